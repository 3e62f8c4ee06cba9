import { z } from 'zod';
import { fieldOf, hexColor } from '../../core/validation.ts';
import { LANGUAGES } from '../../languages/languages.ts';
import { Branding } from './public-branding.ts';

const MAX_URL_LENGTH = 2_000;

const color = hexColor
  .check(z.overwrite(toSixDigits))
  .nullable()
  .describe('The color of buttons and links on the pages of guests, such as `#0f766e`; null: that of the service');

const link = z
  .string()
  .check(z.overwrite((value) => URL.parse(value)?.href ?? value))
  .max(MAX_URL_LENGTH)
  // A browser shows what stands before an @ as if it were the host.
  .refine((value) => value.startsWith('https://') && !new URL(value).username, {
    error: (issue) => `${fieldOf(issue)} must be a URL that begins with https://`,
  })
  .nullable();

export const BrandingInput = z
  .object({
    color: color.optional(),
    imprint_url: link.describe('The page that says who is responsible; https only; null: none').optional(),
    privacy_url: link.describe('The page about the data of guests; https only; null: none').optional(),
    language: z
      .enum(LANGUAGES)
      .nullable()
      .describe('The language of pages and mail for guests who have not said theirs; null: English')
      .optional(),
  })
  .meta({ id: 'BrandingRequest' });
export type BrandingInput = z.infer<typeof BrandingInput>;

export const BrandingAnswer = z.object({ branding: Branding }).meta({ id: 'BrandingResponse' });

/** The name of a logo in its URL. Any text is accepted, because an unknown name is a 404 anyway. */
export const LogoParams = z.object({ name: z.string().describe('The last part of `logo_url`') });

/** `#0A7` becomes `#00aa77`. */
function toSixDigits(value: string): string {
  const digits = value.slice(1).toLowerCase();
  return `#${digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits}`;
}
