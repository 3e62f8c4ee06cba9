import type { Outputs } from '@lynxroom/client';

/** The room, as everybody who has its link sees it. */
export type Room = Outputs['rooms']['readPublic']['room'];

/** What somebody says about themselves when they join. */
export type Guest = { name: string; email: string };
