import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

type TabsProps = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  tabs: readonly { value: string; label: ReactNode; content: ReactNode }[];
};

export function Tabs({ label, value, onChange, tabs }: TabsProps) {
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(String(next))}>
      <Base.List aria-label={label} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px h-10 border-b-2 border-transparent px-3 font-medium whitespace-nowrap text-muted hover:text-text data-[active]:border-accent data-[active]:text-text"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value}>
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
