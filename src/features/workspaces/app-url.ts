import type { Services } from '../../services.ts';

/** The part of the call context that is needed here. */
type CallContext = { services: Pick<Services, 'settings'>; origin: string };

/** The URL of the frontend, without a trailing slash. It is the base of the links sent to people. */
export function appUrlOf({ services: { settings }, origin }: CallContext): string {
  return settings.appUrl ?? settings.publicUrl ?? origin;
}
