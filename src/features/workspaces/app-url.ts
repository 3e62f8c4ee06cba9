import type { Services } from '../../services.ts';

/** The part of the context of a call that is needed here. */
type CallContext = { services: Pick<Services, 'settings'>; origin: string };

/** The URL of the frontend, without a trailing slash. Links for people begin with it. */
export function appUrlOf({ services: { settings }, origin }: CallContext): string {
  return settings.appUrl ?? settings.publicUrl ?? origin;
}
