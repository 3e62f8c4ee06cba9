/** What a participant sends and receives. Microphone and camera are of the person, the others of a shared screen. */
export type TrackKind = 'microphone' | 'camera' | 'screen' | 'screenAudio';
