import type { Services } from '../../services.ts';

/** The part of the call context that `appUrlOf` needs. */
type CallContext = { services: Pick<Services, 'settings'>; origin: string };

/** Returns the URL of the frontend, without a trailing slash. Links that are sent to people begin with this URL. */
export function appUrlOf({ services: { settings }, origin }: CallContext): string {
  return settings.appUrl ?? settings.publicUrl ?? origin;
}
