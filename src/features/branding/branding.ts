/** Reads and changes how a workspace looks to its guests. */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { storeAnswerOfCall } from '../../db/idempotency-keys.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, json, nullable, type Sql, statement, text } from '../../db/statements.ts';
import type { LogoType } from '../../media/logo-image.ts';
import { readLogoImage } from '../../media/logo-image.ts';
import { readStoredImage, type StoredImage, storeImage } from '../../media/stored-images.ts';
import type { Services } from '../../services.ts';
import { type Branding, type BrandingRow, brandingOf, logoNameOf, toBranding } from './public-branding.ts';
import type { BrandingInput } from './schemas.ts';

const brandingOfWorkspace = statement('read-branding', {
  params: { workspaceId: int },
  returns: { branding: json<BrandingRow>('json') },
  sql: `select ${brandingOf('w')} as branding from workspaces w where w.id = $workspaceId`,
});

const logoByName = statement('find-logo', {
  params: { name: text },
  returns: { key: nullable(text) },
  sql: `select logo_key as key from workspaces where ${logoNameOf('logo_key')} = $name and logo_key is not null`,
});

/** Reads the branding. Throws 404 if the workspace has been deleted. */
export function readBranding({ db }: Pick<Services, 'db'>, { workspaceId }: Actor, origin: string): Promise<Branding> {
  return findBranding(db.sql, workspaceId, origin);
}

/** Changes the fields that are given. Throws 404 if the workspace has been deleted. */
export function changeBranding(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { color, imprint_url, privacy_url, language }: BrandingInput,
  origin: string,
): Promise<Branding> {
  const data = {
    ...(color !== undefined && { brandColor: color }),
    ...(imprint_url !== undefined && { imprintUrl: imprint_url }),
    ...(privacy_url !== undefined && { privacyUrl: privacy_url }),
    ...(language !== undefined && { language }),
  };
  return change(services, actor, data, origin);
}

/**
 * Replaces the logo. Throws 400 unless `bytes` are a small PNG, JPEG or WebP, and 500 "Upload failed: storage service
 * unavailable".
 */
export function setLogo(services: Services, actor: Actor, bytes: Buffer, origin: string): Promise<Branding> {
  const stored = { workspaceId: actor.workspaceId, kind: 'logos', image: readLogoImage(bytes) } as const;
  return storeImage(services, stored, (logoKey) => change(services, actor, { logoKey }, origin));
}

/** Removes the logo. Does nothing if there is none. */
export function removeLogo(services: Pick<Services, 'db' | 'clock'>, actor: Actor, origin: string): Promise<Branding> {
  return change(services, actor, { logoKey: null }, origin);
}

/** Reads a logo for anyone who knows its name. Throws 404 "Logo not found". */
export async function readLogo(services: Pick<Services, 'db' | 'store'>, name: string): Promise<StoredImage<LogoType>> {
  // PostgreSQL accepts no NUL.
  const [logo] = name.includes('\0') ? [] : await services.db.sql.run(logoByName, { name });
  const image = logo?.key ? await readStoredImage<LogoType>(services, logo.key) : null;
  if (image === null) throw notFound('Logo');
  return image;
}

type Change = { brandColor?: string | null; imprintUrl?: string | null; privacyUrl?: string | null } & {
  language?: string | null;
  logoKey?: string | null;
};

function change(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  data: Change,
  origin: string,
): Promise<Branding> {
  const { workspaceId } = actor;
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    const before = await findBranding(sqlIn(tx), workspaceId, origin);
    await tx.workspace.updateMany({ where: { id: workspaceId }, data });
    const after = await findBranding(sqlIn(tx), workspaceId, origin);
    await recordChange(tx, { at: clock.now(), actor, before, after });
    await storeAnswerOfCall(sqlIn(tx), async () => ({ branding: after }));
    return after;
  });
}

type Changed = { at: Date; actor: Actor; before: Branding; after: Branding };

/** Records what has changed, and nothing if nothing has. */
async function recordChange(tx: Tx, { at, actor, before, after }: Changed): Promise<void> {
  // `as`: the keys of an object of this type.
  const fields = (Object.keys(after) as (keyof Branding)[]).filter((field) => before[field] !== after[field]);
  if (fields.length === 0) return;
  const pick = (branding: Branding) => Object.fromEntries(fields.map((field) => describe(field, branding[field])));
  await recordAudit(tx, {
    workspaceId: actor.workspaceId,
    at,
    actor: auditActorOf(actor),
    action: 'workspace.branding_changed',
    target: { kind: 'workspace', id: actor.workspaceId },
    before: pick(before),
    after: pick(after),
  });
}

/** Names the type of a logo: its URL leads nowhere once another replaces it. */
function describe(field: keyof Branding, value: string | null): [string, string | null] {
  return field === 'logo_url' ? ['logo', value?.split('.').at(-1) ?? null] : [field, value];
}

async function findBranding(sql: Sql, workspaceId: number, origin: string): Promise<Branding> {
  const [found] = await sql.run(brandingOfWorkspace, { workspaceId });
  if (!found) throw notFound('Workspace');
  return toBranding(found.branding, origin);
}
