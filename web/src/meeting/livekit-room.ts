/** The part of LiveKit's client that meetings use, so that a build leaves out the rest. */
export { Room } from 'livekit-client';
