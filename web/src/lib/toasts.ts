/** Short messages about what has happened. `components/Toasts.tsx` shows them. */
import { describeError } from './errors.ts';

export type Toast = {
  id: number;
  tone: 'success' | 'error';
  message: string;
  requestId: string | null;
  /** What can be done about it, such as undoing it. It dismisses the message. */
  action?: { label: string; onSelect: () => void };
};

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function showSuccess(message: string, action?: Toast['action']): void {
  add({ tone: 'success', message, requestId: null, ...(action && { action }) });
}

/** `what` says what has failed, such as "Could not rename the item". */
export function showError(what: string, error: unknown): void {
  const { message, requestId } = describeError(error);
  add({ tone: 'error', message: `${what}: ${message}`, requestId });
}

export function dismissToast(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

export function readToasts(): readonly Toast[] {
  return toasts;
}

export function subscribeToToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function add(toast: Omit<Toast, 'id'>): void {
  lastId += 1;
  set([...toasts.slice(-3), { id: lastId, ...toast }]);
}

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}
