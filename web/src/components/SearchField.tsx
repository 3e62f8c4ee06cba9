import { Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useSettled } from '../lib/settled.ts';
import { IconButton } from './Button.tsx';
import { controlClass } from './Form.tsx';

const MAX_SEARCH_LENGTH = 200;

type SearchFieldProps = {
  label: string;
  placeholder: string;
  /** What the list shows. If it changes in another way than by typing, the field follows it. */
  value: string;
  /** Called while the user types, with the text without spaces around it. */
  onSearch: (text: string) => void;
  className?: string;
};

/** The search above a list. */
export function SearchField({ label, placeholder, value, onSearch, className = 'w-full max-w-sm' }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const [shown, setShown] = useState(value);
  const [sent, setSent] = useState(value);
  const wanted = text.trim();
  const settled = useSettled(wanted);
  if (value !== shown) {
    setShown(value);
    // The address changed in another way, for example by the browser's Back.
    if (value !== sent) {
      setSent(value);
      setText(value);
    }
  }
  useEffect(() => {
    if (settled !== wanted || settled === sent) return;
    setSent(settled);
    onSearch(settled);
  }, [settled, wanted, sent, onSearch]);
  return (
    <div className={`relative ${className}`}>
      <Search aria-hidden size={16} className="pointer-events-none absolute top-3 left-3 text-muted" />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={MAX_SEARCH_LENGTH}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && setText('')}
        className={`h-10 ${controlClass} px-9 [&::-webkit-search-cancel-button]:hidden`}
      />
      {text !== '' && (
        <IconButton
          label="Clear the search"
          icon={<X aria-hidden size={16} />}
          className="absolute top-0 right-0"
          onClick={() => setText('')}
        />
      )}
    </div>
  );
}
