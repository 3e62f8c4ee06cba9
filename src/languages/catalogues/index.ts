/** All catalogues, for the service. Pages load one: `web/src/languages/guest-language.ts`. */
import type { Catalogue } from '../catalogue.ts';
import type { Language } from '../languages.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { enShared } from './en-shared.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

export const catalogues: Readonly<Record<Language, Catalogue>> = { en: { ...enShared, ...en }, de, fr, es, ar };
