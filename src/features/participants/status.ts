/** The states of a participant: who waits joins, is refused or leaves, who joined leaves, and the last two are final. */

export const participantStatuses = ['waiting', 'joined', 'refused', 'left'] as const;

export type ParticipantStatus = (typeof participantStatuses)[number];

/** The status column is text with a check; this is where it becomes a ParticipantStatus again. */
export function toParticipantStatus(value: string): ParticipantStatus {
  const status = participantStatuses.find((known) => known === value);
  if (status === undefined) throw new Error(`Unknown participant status in the database: ${value}`);
  return status;
}
