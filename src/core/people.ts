/** What stands for the author of something whose account was deleted. */
const DELETED_USER = 'Deleted user';

export const creatorName = (name: string | null | undefined): string => name ?? DELETED_USER;
