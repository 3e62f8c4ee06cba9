/** The addresses that other programs know (RFC 8615). */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../core/errors.ts';
import { DAY_MS } from '../core/time.ts';
import type { Services } from '../services.ts';

/** RFC 9116 recommends less than a year. */
const SECURITY_TXT_MS = 180 * DAY_MS;

export function serveWellKnown(app: FastifyInstance, { settings, clock }: Pick<Services, 'settings' | 'clock'>): void {
  // Password managers open this address to change a password (W3C, A Well-Known URL for Changing Passwords).
  app.get('/.well-known/change-password', (_request, reply) =>
    reply.redirect(`${settings.appUrl ?? ''}/account/security`),
  );

  // Whom to tell about a vulnerability (RFC 9116).
  app.get('/.well-known/security.txt', (_request, reply) => {
    const { securityContact, publicUrl } = settings;
    if (securityContact === null) throw new AppError('NOT_FOUND', 'Not found');
    const expires = new Date(clock.now().getTime() + SECURITY_TXT_MS).toISOString();
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${expires}`,
      'Preferred-Languages: en',
      ...(publicUrl === null ? [] : [`Canonical: ${publicUrl}/.well-known/security.txt`]),
    ];
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`);
  });
}
