import type { Branding } from '@lynxroom/client';
import { useMutation } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { ErrorNote } from '../../../../components/ErrorPanel.tsx';
import { client } from '../../../../lib/client.ts';

type LogoFieldProps = { id: number; hasLogo: boolean; onChange: (branding: Branding) => void };

/** A logo is saved as soon as it is chosen. */
export function LogoField({ id, hasLogo, onChange }: LogoFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const set = useMutation({ mutationFn: (image: File) => client.setLogo({ id, image }), onSuccess: onChange });
  const remove = useMutation({
    mutationFn: () => client.branding.removeLogo.mutate({ id }),
    onSuccess: ({ branding }) => onChange(branding),
  });
  const error = set.error ?? remove.error;

  function send(image: File | undefined): void {
    remove.reset();
    if (image !== undefined) set.mutate(image);
  }

  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm text-muted">PNG, JPEG or WebP, at most 256 kB. Anyone can see it.</p>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/webp"
        aria-label="Logo"
        hidden
        onChange={({ target }) => {
          send(target.files?.[0]);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <p className="flex flex-wrap gap-2">
        <Button
          icon={<Upload aria-hidden size={18} />}
          isPending={set.isPending}
          onClick={() => input.current?.click()}
        >
          {hasLogo ? 'Replace the logo' : 'Choose a logo'}
        </Button>
        {hasLogo && (
          <Button
            isPending={remove.isPending}
            onClick={() => {
              set.reset();
              remove.mutate();
            }}
          >
            Remove the logo
          </Button>
        )}
      </p>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}
