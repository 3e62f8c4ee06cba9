/** Limits how many streams are open at the same time. Each process counts its own. */
import { type AppError, serviceUnavailable, tooManyRequests } from '../core/errors.ts';
import { createLimiter, shareOf, takeAll } from '../core/limiter.ts';

const RETRY_AFTER_SECONDS = 5;
/**
 * The parts of all streams that one network, and the guests of one network, of one room, and of all rooms may have.
 * Anyone can be a guest, so half of the streams are reserved for signed-in users.
 */
const NETWORK_PART = 0.5;
const GUEST_NETWORK_PART = 0.1;
const ROOM_PART = 0.2;
const GUESTS_PART = 0.5;

/** The maximum number of streams in this process: of one owner, and in total. Networks and guests may have parts. */
export type SlotLimits = { perOwner: number; perProcess: number };

export type StreamReader = {
  /** The owner toward whose limit the stream counts, such as `user:7`. */
  owner: string;
  /** The network of the reader, or null if they are exempt from limits per network. */
  network: string | null;
  /** The ID of the room in which the reader is a guest. Null for a signed-in user. */
  guestIn: number | null;
};

export type StreamSlots = {
  /**
   * Takes a slot. Returns the function that releases it. Throws 429 if the owner or the network has too many streams,
   * and 503 if the process, the room or all guests together have too many.
   */
  take(reader: StreamReader): () => void;
};

export function createStreamSlots({ perOwner, perProcess }: SlotLimits): StreamSlots {
  const partOf = (part: number): number => shareOf(perProcess, part);
  const networkFull = () => tooMany('Too many streams are open in your network: try again later');
  const ofOwner = createLimiter<string>({
    maxPerKey: perOwner,
    full: () => tooMany(`At most ${perOwner} streams may be open at a time: close others first`),
  });
  const ofNetwork = createLimiter<string>({ maxPerKey: partOf(NETWORK_PART), full: networkFull });
  const ofGuestNetwork = createLimiter<string>({ maxPerKey: partOf(GUEST_NETWORK_PART), full: networkFull });
  const ofRoom = createLimiter<number>({ maxPerKey: partOf(ROOM_PART), full: busy });
  const ofGuests = createLimiter<'guests'>({ max: partOf(GUESTS_PART), full: busy });
  const ofProcess = createLimiter<'all'>({ max: perProcess, full: busy });
  return {
    take({ owner, network, guestIn }) {
      const takes = [() => ofOwner.take(owner)];
      if (network !== null) takes.push(() => (guestIn === null ? ofNetwork : ofGuestNetwork).take(network));
      if (guestIn !== null)
        takes.push(
          () => ofRoom.take(guestIn),
          () => ofGuests.take('guests'),
        );
      return takeAll([...takes, () => ofProcess.take('all')]);
    },
  };
}

function tooMany(message: string): AppError {
  return tooManyRequests(message, RETRY_AFTER_SECONDS);
}

function busy(): AppError {
  return serviceUnavailable('Too many streams are open: try again later', RETRY_AFTER_SECONDS);
}
