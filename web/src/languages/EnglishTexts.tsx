/** Frames a part of a page for guests that the console shows: the console is English. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { loadTexts } from './guest-language.ts';
import { TextsContext } from './texts.ts';

export function EnglishTexts({ fallback, children }: { fallback: ReactNode; children: ReactNode }) {
  const { data: texts, error } = useQuery({
    queryKey: ['texts', 'en'],
    queryFn: () => loadTexts('en'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const value = useMemo(() => texts && { texts, choose: () => {} }, [texts]);
  if (error !== null) throw error;
  return value === undefined ? fallback : <TextsContext value={value}>{children}</TextsContext>;
}
