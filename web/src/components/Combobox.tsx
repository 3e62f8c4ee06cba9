import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, ChevronDown } from 'lucide-react';
import { useContext, useId } from 'react';
import { createWriter } from '../../../src/languages/format-text.ts';
import { TextsContext } from '../languages/texts.ts';

export type ComboboxOption = { value: string; label: string };

type ComboboxProps = {
  label: string;
  options: readonly ComboboxOption[];
  value: string | null;
  onChange: (value: string | null) => void;
  placeholder?: string;
  hint?: string;
};

/** A choice from many options, found by typing, in the language of the page if it has one. For only a few options, use a `SelectField`. */
export function Combobox({ label, options, value, onChange, placeholder, hint }: ComboboxProps) {
  const id = useId();
  const context = useContext(TextsContext);
  const write = context && createWriter(context.texts);
  const chosen = options.find((option) => option.value === value) ?? null;
  return (
    <Base.Root items={options} value={chosen} onValueChange={(option) => onChange(option?.value ?? null)}>
      <div className="flex flex-col gap-1">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        <Base.InputGroup className="flex items-center rounded-lg border border-control-line bg-raised focus-within:outline-2 focus-within:outline-accent-text">
          <Base.Input
            id={id}
            placeholder={placeholder}
            aria-describedby={hint === undefined ? undefined : `${id}-hint`}
            className="h-10 min-w-0 grow bg-transparent px-3 outline-none placeholder:text-muted"
          />
          <Base.Trigger
            aria-label={write?.('book.showAll', { label }) ?? `Show all: ${label}`}
            className="flex size-10 items-center justify-center"
          >
            <ChevronDown aria-hidden size={16} />
          </Base.Trigger>
        </Base.InputGroup>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        )}
      </div>
      <Base.Portal>
        <Base.Positioner sideOffset={4} className="z-50 outline-none">
          <Base.Popup className="appear w-(--anchor-width) rounded-xl border border-line bg-raised p-1 shadow-raised">
            <Base.Empty>
              <p className="px-3 py-2 text-muted">{write?.('book.nothingFound') ?? 'Nothing found'}</p>
            </Base.Empty>
            <Base.List className="max-h-[min(20rem,var(--available-height))] overflow-y-auto outline-none">
              {(option: ComboboxOption) => (
                <Base.Item
                  key={option.value}
                  value={option}
                  className="flex min-h-9 cursor-pointer items-center gap-2 rounded-lg px-3 py-1.5 outline-none data-[highlighted]:bg-hover"
                >
                  <span className="size-4">
                    <Base.ItemIndicator>
                      <Check aria-hidden size={16} />
                    </Base.ItemIndicator>
                  </span>
                  {option.label}
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
