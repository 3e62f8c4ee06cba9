/** The name shown for an author whose account was deleted. */
export const DELETED_USER = 'Deleted user';

export function creatorName(name: string | null | undefined): string {
  return name ?? DELETED_USER;
}
