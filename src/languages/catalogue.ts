/**
 * The types of the catalogues. The texts of `catalogues/en.ts` define the keys, the placeholders and which texts have
 * plural forms, so that a catalogue in which one is missing does not compile.
 */
import type { en } from './catalogues/en.ts';
import type { enShared } from './catalogues/en-shared.ts';

/** A text with placeholders such as `{name}`, or its forms by the number in `{count}`. */
export type Message = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

type English = typeof en & typeof enShared;
export type TextKey = keyof English;

/** A catalogue with the plural forms that a language has: those that `Intl.PluralRules` can select. */
export type CatalogueWith<Form extends Intl.LDMLPluralRule> = {
  readonly [Key in TextKey]: English[Key] extends string ? string : Readonly<Record<Form, string>>;
};

export type Catalogue = Readonly<Record<TextKey, Message>>;

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type NamesOf<Entry> = Entry extends string ? NamesIn<Entry> : 'count' | NamesIn<Entry[keyof Entry]>;

/** The values for the placeholders of a text. `Part` is what else than text they may be, such as an element. */
export type ValuesOf<Key extends TextKey, Part = never> = {
  readonly [Name in NamesOf<English[Key]>]: Name extends 'count' ? number : string | number | Part;
};

/** What follows the key: nothing, if the text has no placeholders. */
export type ArgumentsOf<Key extends TextKey> = [NamesOf<English[Key]>] extends [never] ? [] : [values: ValuesOf<Key>];

/** Writes a text in its language. */
export type WriteText = <Key extends TextKey>(key: Key, ...values: ArgumentsOf<Key>) => string;

/** A text that is written later, where its language is known. */
export type TextOf = { readonly key: TextKey; readonly values: Readonly<Record<string, string | number>> };

export function textOf<Key extends TextKey>(key: Key, ...[values]: ArgumentsOf<Key>): TextOf {
  return { key, values: values ?? {} };
}
