/** The parts of a workspace that a frame shows with an embed token of the same kind. */
import { type ComponentType, lazy } from 'react';

export type Part = 'library' | 'webhooks';

export const parts: Readonly<Record<Part, { title: string; Content: ComponentType<{ mayUpload: boolean }> }>> = {
  library: { title: 'Library', Content: lazy(() => import('./LibraryFrame.tsx')) },
  webhooks: { title: 'Webhooks', Content: lazy(() => import('./WebhooksFrame.tsx')) },
};

export function isPart(part: string): part is Part {
  return Object.hasOwn(parts, part);
}
