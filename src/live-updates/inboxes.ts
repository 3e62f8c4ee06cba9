/** The readers of this process for whom messages are stored, by the topics of the notifications about them. */
export type Inboxes = {
  /** Calls `wake` when a message may have been stored. Returns a function that stops these calls. */
  listen(topic: string, wake: () => void): () => void;
  /** Wakes the readers of a topic; null means all readers. */
  wake(topic: string | null): void;
};

export function createInboxes(): Inboxes {
  const byTopic = new Map<string, Set<() => void>>();
  return {
    listen(topic, wake) {
      const readers = byTopic.get(topic) ?? new Set();
      byTopic.set(topic, readers.add(wake));
      return () => {
        readers.delete(wake);
        if (readers.size === 0 && byTopic.get(topic) === readers) byTopic.delete(topic);
      };
    },
    wake(topic) {
      for (const readers of topic === null ? byTopic.values() : [byTopic.get(topic) ?? []])
        for (const wake of readers) wake();
    },
  };
}
