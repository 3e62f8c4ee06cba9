/** Which forms hold changes that are not saved. `UnsavedChanges` registers them, and dialogs ask before they close. */

const forms = new Map<HTMLFormElement, () => boolean>();

/** Returns a function that forgets the form. */
export function addGuardedForm(form: HTMLFormElement, isChanged: () => boolean): () => void {
  forms.set(form, isChanged);
  return () => forms.delete(form);
}

/** Whether a form in this part of the page has changes that would be lost. */
export function hasUnsavedChanges(part: Element | null): boolean {
  return [...forms].some(([form, isChanged]) => part?.contains(form) && isChanged());
}
