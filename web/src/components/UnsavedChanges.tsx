import { useBlocker } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { addGuardedForm } from '../lib/unsaved.ts';
import { ConfirmDialog } from './Dialog.tsx';

type Props = {
  /** The call that saves the form. What it has saved, or is saving, is not lost. */
  save: { isPending: boolean; isSuccess?: boolean };
  /** What the form holds besides the values of its controls, as JSON can tell it. */
  values?: unknown;
};

/**
 * Asks before the changes of the form around it are lost: by a link or the way back, by closing the dialog around it,
 * and, in the browser's own words, by closing the tab. What a person typed and took back is no change.
 */
export function UnsavedChanges(props: Props) {
  const { marker, isChanged } = useUnsavedChanges(props);
  const { status, proceed, reset } = useBlocker({
    // A change of the search alone opens or closes a dialog.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isChanged(),
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  return (
    <>
      <span ref={marker} hidden />
      {status === 'blocked' && (
        <ConfirmDialog
          onClose={reset}
          title="Leave without saving?"
          text="What you have changed here is lost."
          action="Leave without saving"
          onConfirm={async () => proceed()}
          closes={false}
        />
      )}
    </>
  );
}

function useUnsavedChanges({ save, values }: Props) {
  const marker = useRef<HTMLSpanElement>(null);
  const latest = useRef({ save, values });
  latest.current = { save, values };
  const isTouched = useRef(false);
  const saved = useRef('');
  const submitted = useRef('');

  function read(): string {
    const form = marker.current?.closest('form');
    return JSON.stringify([[...(form?.elements ?? [])].map(readControl), latest.current.values]);
  }

  function isChanged(): boolean {
    return isTouched.current && !latest.current.save.isPending && read() !== saved.current;
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions read what is there at that moment.
  useEffect(() => {
    const form = marker.current?.closest('form');
    if (!form) return;
    saved.current = read();
    const controller = new AbortController();
    const { signal } = controller;
    // Some controls get their first values later, which is no change by the person.
    for (const type of ['input', 'change', 'click'])
      form.addEventListener(type, () => (isTouched.current = true), { signal });
    form.addEventListener('submit', () => (submitted.current = read()), { signal });
    const forget = addGuardedForm(form, isChanged);
    return () => {
      controller.abort();
      forget();
    };
  }, []);

  const isSaved = save.isSuccess === true && !save.isPending;
  useEffect(() => {
    if (isSaved) saved.current = submitted.current;
  }, [isSaved]);

  return { marker, isChanged };
}

function readControl(control: Element): string | boolean {
  if (control instanceof HTMLInputElement && /^(checkbox|radio)$/.test(control.type)) return control.checked;
  const isField = control instanceof HTMLInputElement || control instanceof HTMLSelectElement;
  return isField || control instanceof HTMLTextAreaElement ? control.value : '';
}
