import { createClient } from '@lynxroom/client';
import { createMeeting } from '@lynxroom/client/meeting';

const query = new URLSearchParams(location.search);
const [url, roomName] = [query.get('service') ?? location.origin, query.get('room') ?? ''];
const find = (selector) => document.querySelector(selector);
const create = (element, properties) => Object.assign(document.createElement(element), properties);
let meeting;

find('#lobby').onsubmit = async (event) => {
  event.preventDefault();
  const token = sessionStorage.getItem(roomName) ?? undefined;
  meeting = createMeeting(createClient({ url }), { url, roomName, token, name: event.target.elements.name.value });
  meeting.on('change', show);
  meeting.on('chat', ({ from, text }) =>
    find('#messages').append(create('li', { innerText: `${from.name}: ${text}` })),
  );
  meeting.on('mute-requested', () => meeting.setMuted('microphone', true));
  const media = await navigator.mediaDevices.getUserMedia({ audio: true, video: { height: 360 } });
  await meeting.setTrack('microphone', media.getAudioTracks()[0]);
  await meeting.setTrack('camera', media.getVideoTracks()[0]);
  await meeting.join();
  sessionStorage.setItem(roomName, meeting.token); // A reload comes back as the same participant.
};

function show({ state, endReason, peers, local, speaker }) {
  find('main').hidden = false;
  find('#lobby').hidden = state !== 'ended';
  find('#state').textContent = endReason ?? state;
  find('#mute').textContent = local.microphone.isMuted ? 'Unmute' : 'Mute';
  const people = [{ id: 0, name: 'You', camera: local.camera.track }, ...peers];
  const tiles = people.flatMap(({ id, name, camera, microphone, screen, screenAudio }) => [
    { id: `camera ${id}`, name, tracks: [camera, microphone], isSpeaking: id === speaker },
    ...(screen ? [{ id: `screen ${id}`, name: `Screen of ${name}`, tracks: [screen, screenAudio] }] : []),
  ]);
  for (const figure of [...find('#tiles').children]) if (!tiles.some(({ id }) => id === figure.id)) figure.remove();
  for (const { id, name, tracks, isSpeaking = false } of tiles) {
    const figure = document.getElementById(id) ?? addTile(id, name);
    figure.classList.toggle('speaking', isSpeaking);
    const stream = figure.firstChild.srcObject;
    for (const track of stream.getTracks()) if (!tracks.includes(track)) stream.removeTrack(track);
    for (const track of tracks) if (track) stream.addTrack(track);
  }
}

function addTile(id, name) {
  const video = { autoplay: true, playsInline: true, muted: name === 'You', srcObject: new MediaStream() };
  const figure = create('figure', { id });
  figure.append(create('video', video), create('figcaption', { innerText: name }));
  find('#tiles').append(figure);
  return figure;
}

find('#mute').onclick = () => meeting.setMuted('microphone', !meeting.local.microphone.isMuted);
find('#share').onclick = async () => {
  const media = await navigator.mediaDevices.getDisplayMedia({ audio: true });
  await meeting.setTrack('screen', media.getVideoTracks()[0]);
  await meeting.setTrack('screenAudio', media.getAudioTracks()[0] ?? null);
};
find('#chat').onsubmit = (event) => {
  event.preventDefault();
  meeting.sendChat(event.target.elements.text.value);
  event.target.reset();
};
find('#leave').onclick = () => meeting.leave();
