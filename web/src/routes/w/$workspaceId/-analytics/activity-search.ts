/** What the address of the list of events says. */

/** `from` and `to` are Unix seconds. */
export type Activity = { type?: string; room?: number; page?: number; from?: number; to?: number };

export function parseActivity({ type, ...search }: Record<string, unknown>): Activity {
  const numbers = (['room', 'page', 'from', 'to'] as const).flatMap((name) =>
    Number.isInteger(search[name]) ? [[name, search[name]]] : [],
  );
  return { ...(typeof type === 'string' && { type }), ...Object.fromEntries(numbers) };
}
