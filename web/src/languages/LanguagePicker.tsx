import { Languages } from 'lucide-react';
import { LANGUAGES, type Language, languageNames } from '../../../src/languages/languages.ts';
import { useTexts } from './texts.ts';

/** The languages, each in its own words. */
export function LanguagePicker() {
  const { language, choose, write } = useTexts();
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      <Languages aria-hidden size={18} className="shrink-0" />
      <select
        aria-label={write('page.language')}
        value={language}
        // `as`: the values are those of the options.
        onChange={({ target }) => choose(target.value as Language)}
        className="h-10 rounded-lg border border-control-line bg-raised px-2 text-text"
      >
        {LANGUAGES.map((one) => (
          <option key={one} value={one} lang={one}>
            {languageNames[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
