import type { Services } from '../../services.ts';

/** What a call says of where it came to. */
type Called = { services: Pick<Services, 'settings'>; origin: string };

/** Where the frontend lives, without a trailing slash: what links for people begin with. */
export function appUrlOf({ services: { settings }, origin }: Called): string {
  return settings.appUrl ?? settings.publicUrl ?? origin;
}
