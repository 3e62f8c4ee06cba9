import { createClient } from '@lynxroom/client';
import { createMeeting } from '@lynxroom/client/meeting';

// meeting.html?service=https://meet.example.com&room=green-fox
const query = new URLSearchParams(location.search);
const roomName = query.get('room') ?? '';
const url = query.get('service') ?? location.origin;
const tokenKey = `visit ${roomName}`;
const find = (selector) => document.querySelector(selector);
let meeting;

async function join(name) {
  const token = sessionStorage.getItem(tokenKey) ?? undefined;
  meeting = createMeeting(createClient({ url }), { roomName, name, token, url });
  meeting.on('change', show);
  meeting.on('chat', ({ from, text }) => find('#messages').append(createText('li', `${from.name}: ${text}`)));
  meeting.on('mute-requested', () => meeting.setMuted('microphone', true));
  const media = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 640, height: 360 } });
  await meeting.setTrack('microphone', media.getAudioTracks()[0]);
  await meeting.setTrack('camera', media.getVideoTracks()[0]);
  await meeting.join();
  sessionStorage.setItem(tokenKey, meeting.token);
  globalThis.meeting = meeting; // To look at it in the developer tools.
}

function show({ state, endReason, participant, peers, local, speaker }) {
  find('main').hidden = false;
  find('#lobby').hidden = state !== 'ended';
  find('#state').textContent = endReason ?? state;
  find('#mute').textContent = local.microphone.isMuted ? 'Unmute' : 'Mute';
  const own = { id: participant?.id, name: 'You', camera: local.camera.track, screen: null };
  const tiles = [own, ...peers].flatMap(({ id, name, camera, screen, microphone, screenAudio }) => [
    { key: `${id} camera`, name, tracks: [camera, microphone], isSpeaking: id === speaker },
    ...(screen ? [{ key: `${id} screen`, name: `Screen of ${name}`, tracks: [screen, screenAudio] }] : []),
  ]);
  for (const figure of find('#tiles').children) if (!tiles.some(({ key }) => key === figure.id)) figure.remove();
  for (const tile of tiles) showTile(tile);
}

function showTile({ key, name, tracks, isSpeaking = false }) {
  const figure = document.getElementById(key) ?? createTile(key, name);
  const { srcObject } = figure.firstChild;
  const wanted = tracks.filter(Boolean);
  for (const track of srcObject.getTracks()) if (!wanted.includes(track)) srcObject.removeTrack(track);
  for (const track of wanted) srcObject.addTrack(track);
  figure.className = isSpeaking ? 'speaking' : '';
}

function createTile(id, name) {
  const video = Object.assign(document.createElement('video'), { autoplay: true, playsInline: true });
  Object.assign(video, { srcObject: new MediaStream(), muted: name === 'You' });
  const figure = Object.assign(document.createElement('figure'), { id });
  figure.append(video, createText('figcaption', name));
  find('#tiles').append(figure);
  return figure;
}

function createText(element, text) {
  return Object.assign(document.createElement(element), { textContent: text });
}

async function share() {
  const media = await navigator.mediaDevices.getDisplayMedia({ audio: true });
  await meeting.setTrack('screen', media.getVideoTracks()[0]);
  await meeting.setTrack('screenAudio', media.getAudioTracks()[0] ?? null);
}

const onSubmit = (form, run) => {
  find(form).onsubmit = (event) => {
    event.preventDefault();
    run(new FormData(event.target));
    event.target.reset();
  };
};
onSubmit('#lobby', (data) => join(data.get('name')));
onSubmit('#chat', (data) => meeting.sendChat(data.get('text')));
find('#mute').onclick = () => meeting.setMuted('microphone', !meeting.local.microphone.isMuted);
find('#share').onclick = share;
find('#leave').onclick = () => {
  sessionStorage.removeItem(tokenKey);
  meeting.leave();
};
