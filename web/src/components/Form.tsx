import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useId, useRef } from 'react';
import { describeError, refusalWith } from '../lib/errors.ts';
import { ErrorNote } from './ErrorPanel.tsx';

type Context = { errorOf(name: string): string | undefined };

const FormContext = createContext<Context>({ errorOf: () => undefined });

type FormProps = {
  onSubmit: (values: FormData) => void;
  /** The error of the last attempt. What the service says about a field is shown at the field with that name. */
  error?: unknown;
  /** The field whose value is taken if the service answers 409. */
  takenField?: string | undefined;
  children: ReactNode;
  className?: string;
  id?: string;
};

/** A form. The names of its fields are those of the operation's input. */
export function Form({ onSubmit, error, takenField, children, className = '', id }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const described = describeError(error);
  const isTaken = takenField !== undefined && refusalWith(error, 'CONFLICT');
  const issues = isTaken ? [{ path: takenField, message: described.message }] : described.issues;
  const names = issues.map(({ path }) => path);
  const errorOf = (name: string): string | undefined =>
    issues.find(({ path }) => path === name || path.startsWith(`${name}.`))?.message;
  // The message about the whole form is left out if every issue is shown at its field.
  const isAtFields = (): boolean =>
    names.length > 0 && names.every((path) => form.current?.elements.namedItem(path.split('.')[0] ?? '') != null);

  // Only a new error moves the focus, or scrolls to its message, which may be above what a long form shows.
  useEffect(() => {
    if (!error) return;
    const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]');
    if (invalid) invalid.focus();
    else form.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'nearest' });
  }, [error]);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  }

  return (
    <FormContext value={{ errorOf }}>
      <form ref={form} id={id} onSubmit={submit} className={`flex flex-col gap-4 ${className}`}>
        {Boolean(error) && !isAtFields() && <ErrorNote error={error} />}
        {children}
      </form>
    </FormContext>
  );
}

type ControlProps = {
  id: string;
  name: string;
  'aria-invalid': true | undefined;
  'aria-describedby': string | undefined;
  className: string;
};

type FieldProps = {
  name: string;
  label: string;
  hint?: ReactNode;
  /** An error that the page found. It is shown if the service reported none for this field. */
  error?: string | undefined;
  className?: string;
  children: (control: ControlProps) => ReactNode;
};

export const controlClass =
  'w-full rounded-lg border border-control-line bg-raised px-3 text-text placeholder:text-muted aria-[invalid=true]:border-danger-text';

/** A labelled control, with its hint and the error that the service gave for `name`. */
export function Field({ name, label, hint, error, className = '', children }: FieldProps) {
  const text = useContext(FormContext).errorOf(name) ?? error;
  // Messages of the service contain the name of the field in the API. People know the field by its label.
  const message = text?.startsWith(`${name} `) || name.includes('_') ? text?.replace(name, () => label) : text;
  // A dialog above the page may have a field with the same name.
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, message !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className={`flex flex-col gap-1 ${className}`}>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({
        id,
        name,
        className: controlClass,
        'aria-invalid': message === undefined ? undefined : true,
        'aria-describedby': described.join(' ') || undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
      {message !== undefined && (
        <p id={`${id}-error`} className="text-sm text-danger-text">
          {message}
        </p>
      )}
    </div>
  );
}

/** Several controls that are one field of the input, such as the opening hours. */
export function FieldGroup({ name, label, hint, children }: Omit<FieldProps, 'children'> & { children: ReactNode }) {
  const message = useContext(FormContext).errorOf(name);
  return (
    <fieldset
      name={name}
      // Makes the group focusable, so that it can get the focus when it has an error.
      tabIndex={-1}
      data-invalid={message === undefined ? undefined : true}
      className="flex min-w-0 flex-col gap-2 outline-none"
    >
      <legend className="mb-1 font-medium">{label}</legend>
      {hint !== undefined && <p className="text-sm text-muted">{hint}</p>}
      {message !== undefined && (
        <p role="alert" className="text-sm text-danger-text">
          {message}
        </p>
      )}
      {children}
    </fieldset>
  );
}

type OwnFieldProps = Omit<FieldProps, 'children'>;

export function TextField({
  name,
  label,
  hint,
  error,
  className,
  ...input
}: OwnFieldProps & Omit<React.InputHTMLAttributes<HTMLInputElement>, 'name' | 'id'>) {
  return (
    <Field name={name} label={label} hint={hint} error={error} className={className}>
      {(control) => <input {...input} {...control} className={`h-10 ${control.className}`} />}
    </Field>
  );
}

export function TextAreaField({
  name,
  label,
  hint,
  error,
  className,
  ...input
}: OwnFieldProps & Omit<React.TextareaHTMLAttributes<HTMLTextAreaElement>, 'name' | 'id'>) {
  return (
    <Field name={name} label={label} hint={hint} error={error} className={className}>
      {(control) => <textarea rows={4} {...input} {...control} className={`py-2 ${control.className}`} />}
    </Field>
  );
}

export function SelectField({
  name,
  label,
  hint,
  error,
  className,
  options,
  ...select
}: OwnFieldProps &
  Omit<React.SelectHTMLAttributes<HTMLSelectElement>, 'name' | 'id'> & {
    options: readonly { value: string; label: string }[];
  }) {
  return (
    <Field name={name} label={label} hint={hint} error={error} className={className}>
      {(control) => (
        <select {...select} {...control} className={`h-10 ${control.className}`}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckboxField({
  name,
  label,
  hint,
  ...input
}: OwnFieldProps & Omit<React.InputHTMLAttributes<HTMLInputElement>, 'name' | 'id' | 'type'>) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="flex items-center gap-2">
        <input type="checkbox" {...input} id={id} name={name} className="size-4 accent-accent" />
        {label}
      </label>
      {hint !== undefined && <p className="text-sm text-muted">{hint}</p>}
    </div>
  );
}
