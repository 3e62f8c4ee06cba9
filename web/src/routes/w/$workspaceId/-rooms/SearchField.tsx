import { useEffect, useRef, useState } from 'react';
import { controlClass } from '../../../../components/Form.tsx';

const TYPING_MS = 200;

type SearchFieldProps = { label: string; placeholder: string; onSearch: (text: string) => void };

/** Calls `onSearch` once the text has not changed for a moment. */
export function SearchField({ label, placeholder, onSearch }: SearchFieldProps) {
  const [text, setText] = useState('');
  const latest = useRef(onSearch);
  latest.current = onSearch;
  useEffect(() => {
    const timer = setTimeout(() => latest.current(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="w-full max-w-sm">
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={100}
        value={text}
        onChange={({ target }) => setText(target.value)}
        className={`h-10 ${controlClass}`}
      />
    </div>
  );
}
