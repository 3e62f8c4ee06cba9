// The language of a small page for guests: the guest's choice, which the console's pages for guests share, else the
// browser's, else the workspace's, else English. The texts are those of `src/languages/catalogues`.
import { showStatus } from './page.js';

const KEY = 'lynxroom.language';
/** Between these, a name in another script keeps its own direction. */
const ISOLATE = ['\u2068', '\u2069'];

const status = document.getElementById('status');
const picker = document.getElementById('language');
const languages = [...picker.options].map(({ value }) => value);

let texts = {};
let shown = '';

/**
 * Shows the page in its language, and in each that the guest chooses then. `ofWorkspace` is the language that the
 * workspace has set; null while the page does not know it. Throws an Error with a message for people.
 */
export async function showLanguage(ofWorkspace = null) {
  const language = readChoice() ?? ofBrowser() ?? find(ofWorkspace ?? '') ?? 'en';
  if (language !== shown) await show(language);
  picker.onchange = () => {
    storeChoice(picker.value);
    show(picker.value).catch(({ message }) => showStatus(message, 'error'));
  };
}

/** Writes a text into an element, in the language of the page. `english` replaces the text in English. */
export function write(element, key, values = {}, english = '') {
  Object.assign(element.dataset, { text: key, values: JSON.stringify(values), english });
  fill(element);
}

/** Shows a message, like `showStatus`. */
export function say(key, values, kind = 'info') {
  status.className = kind;
  write(status, key, values);
}

/** Ends the message. */
export function sayNothing() {
  delete status.dataset.text;
  status.textContent = '';
}

/** Shows what the service says of an error in English, and in other languages the text for its code. */
export function sayError({ code = 'connection', message }, ofCodes = {}) {
  const ofCode = `error.${code}`;
  const key = ofCodes[code] ?? (ofCode in texts ? ofCode : 'error.unknown');
  status.className = 'error';
  write(status, key, {}, message);
}

async function show(language) {
  texts = await load(language);
  shown = language;
  picker.value = language;
  document.documentElement.lang = language;
  document.documentElement.dir = picker.selectedOptions[0].dataset.dir;
  for (const element of document.querySelectorAll('[data-text]')) fill(element);
  for (const element of document.querySelectorAll('[data-label]'))
    element.setAttribute('aria-label', texts[element.dataset.label]);
  document.title = `${document.querySelector('h1').textContent} - Lynxroom`;
}

async function load(language) {
  const response = await fetch(`/pages/texts-${language}.json`).catch(() => null);
  if (!response?.ok) throw new Error('The service could not be reached. Check your connection, and try again.');
  return response.json();
}

function fill(element) {
  const { text, values = '{}', english } = element.dataset;
  const given = JSON.parse(values);
  const isEnglish = document.documentElement.lang === 'en';
  element.textContent =
    (isEnglish && english) || texts[text].replace(/\{(\w+)\}/g, (_match, name) => isolate(given[name]));
}

function isolate(value) {
  return document.documentElement.dir === 'rtl' ? ISOLATE.join(value) : value;
}

/** The language of a tag such as `de-AT`, if the page has its texts. */
function find(tag) {
  const [primary] = tag.toLowerCase().split('-');
  return languages.find((language) => language === primary);
}

function ofBrowser() {
  return navigator.languages.map(find).find(Boolean);
}

/** A browser that blocks the data of sites throws when a page touches its storage. */
function readChoice() {
  try {
    return find(localStorage.getItem(KEY) ?? '');
  } catch {
    return undefined;
  }
}

function storeChoice(language) {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // The choice then lasts as long as the page.
  }
}
