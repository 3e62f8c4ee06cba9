/** What meeting providers tell us, in our words: no name or unit of a provider gets further than this. */

/**
 * How a provider names the room. LiveKit and the generic provider use our room's name; Vonage uses a session id of its
 * own, which whoever set up the meeting maps to a room. Both are as the provider sent them: that such a room exists is
 * not said.
 */
export type RoomReference = { kind: 'name'; name: string } | { kind: 'session'; sessionId: string };

/** A file that can be fetched from its http(s) URL. Where the URL leads is not checked: whoever fetches it does. */
export type RecordingFile = { url: string };

/** `duration` in whole seconds and `size` in bytes; null: not known yet. */
type Measures = { duration: number | null; size: number | null };

/**
 * One thing that happened in a meeting. Facts come late, twice and in any order. `at` is when it happened, as near as
 * the provider tells: never in the future, and the time of arrival where the provider's own time is absurd or missing.
 * Ids are as sent, but for spaces around them (1 to 200 characters). Texts that people wrote are cleaned and cut: names
 * at 100 characters, titles at 200, reasons at 500.
 */
export type MeetingFact =
  | {
      kind: 'participant.joined';
      room: RoomReference;
      /** The provider's id of this one connection; the leave carries the same. */
      participantReference: string;
      name: string | null;
      email: string | null;
      /** What may be the token that our own join operation gave out; it may also be nobody's. */
      token: string | null;
      at: Date;
    }
  | { kind: 'participant.left'; room: RoomReference; participantReference: string; at: Date }
  | { kind: 'recording.started'; room: RoomReference; archiveId: string; title: string | null; at: Date }
  /** The capture is over; the file is not there yet. */
  | ({ kind: 'recording.ended'; room: RoomReference; archiveId: string; at: Date } & Measures)
  /** The file exists, at the provider or in the customer's bucket; `file` where it has an address. */
  | ({
      kind: 'recording.uploaded';
      room: RoomReference;
      archiveId: string;
      file: RecordingFile | null;
      at: Date;
    } & Measures)
  /** The file can be fetched, until `urlExpiresAt` where the URL does not last. */
  | ({
      kind: 'recording.available';
      room: RoomReference;
      archiveId: string;
      file: RecordingFile;
      urlExpiresAt: Date | null;
      at: Date;
    } & Measures)
  | { kind: 'recording.failed'; room: RoomReference; archiveId: string; reason: string; at: Date };

/** A request as it arrived. `body` is its raw bytes: signatures are of bytes, and JSON does not keep them. */
export type Callback = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer };

/**
 * What a callback with a good signature says. `dedupeKey` (1 to 200 characters) is the same whenever the provider tells
 * the same thing again. No facts: a kind that is known to exist and says nothing about people or recordings; such a
 * callback is accepted, or the provider would send it again.
 */
export type VerifiedCallback = { dedupeKey: string; facts: MeetingFact[] };

/** What is needed to verify a provider's callbacks, as its credentials shape gives it. */
export type ProviderCredentials = Readonly<Record<string, string | undefined>>;

export type ProviderAdapter = {
  /**
   * Verifies a callback at the time `now` and says what it tells. Throws UnverifiedCallback (401) unless it is signed
   * with these credentials, and MalformedCallback (400) where it is and cannot be understood. Credentials that are not
   * of the provider's shape are our bug, and throw a plain Error.
   */
  readAndVerify(callback: Callback, credentials: ProviderCredentials, now: Date): Promise<VerifiedCallback>;
};
