/** What stands for a person without a picture. */

/** One or two letters of a name: the first of its first and of its last word, in any script. */
export function toInitials(name: string): string {
  const words = name.trim().split(/\s+/u).filter(Boolean);
  const first = firstLetter(words[0] ?? '');
  const last = words.length > 1 ? firstLetter(words.at(-1) ?? '') : '';
  return (first + last).toLocaleUpperCase();
}

/** The first character as people see it, which may have several code points. */
function firstLetter(word: string): string {
  const letters = [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment);
  return letters.find((letter) => /[\p{L}\p{N}]/u.test(letter)) ?? letters[0] ?? '';
}

/** Colours of the tokens, in which people are told apart. The same person always has the same one. */
const TONES = [
  'bg-accent-soft text-accent-text',
  'bg-success-soft text-success-text',
  'bg-warning-soft text-warning-text',
  'bg-danger-soft text-danger-text',
] as const;

export function toneOf(participantId: number): string {
  return TONES[Math.abs(participantId) % TONES.length] ?? TONES[0];
}
