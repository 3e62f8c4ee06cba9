/** How a workspace looks to its guests: what the answers that anyone can read say of it. */
import { z } from 'zod';
import { LANGUAGES } from '../../languages/languages.ts';

export const Branding = z
  .object({
    color: z
      .string()
      .nullable()
      .describe('The color of buttons and links, as `#rrggbb`; null for that of the service')
      .meta({ example: '#0f766e' }),
    logo_url: z
      .string()
      .nullable()
      .describe('Where anyone can read the logo; null without one. It changes with the logo'),
    imprint_url: z.string().nullable().describe('Who is responsible for the pages; null without'),
    privacy_url: z.string().nullable().describe('How data of guests is used; null without'),
    language: z
      .enum(LANGUAGES)
      .nullable()
      .describe('The language of pages and mail for guests who have not said theirs; null for English'),
  })
  .meta({ id: 'Branding', description: 'How a workspace looks to its guests' });
export type Branding = z.infer<typeof Branding>;

/** What `brandingOf` selects. */
export type BrandingRow = Omit<Branding, 'logo_url'> & { logo: string | null };

/** SQL for the name of a logo, which is the last part of its key and of its URL. */
export function logoNameOf(column: string): string {
  return `substring(${column} from '[^/]+$')`;
}

/** SQL for the branding of the workspace with this alias, as a column of the type `json<BrandingRow>('json')`. */
export function brandingOf(workspace: string): string {
  return `json_build_object('color', ${workspace}.brand_color, 'logo', ${logoNameOf(`${workspace}.logo_key`)},
        'imprint_url', ${workspace}.imprint_url, 'privacy_url', ${workspace}.privacy_url,
        'language', ${workspace}.language)`;
}

/** `origin` is the origin of the URL of the logo. */
export function toBranding({ logo, ...branding }: BrandingRow, origin: string): Branding {
  return { ...branding, logo_url: logo === null ? null : `${origin}/api/logos/${logo}` };
}
