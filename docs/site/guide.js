// The guides: the menu on a phone, buttons that copy code, the language of the examples, and the search of guides and operations.
import { findEntries } from './find-entries.js';

const byId = (id) => document.getElementById(id);

const menu = byId('menu');
menu.addEventListener('click', () => {
  const isOpen = byId('sidebar').classList.toggle('open');
  menu.setAttribute('aria-expanded', String(isOpen));
});
byId('sidebar').querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });

for (const block of document.querySelectorAll('pre[data-language]')) {
  const button = document.createElement('button');
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  const frame = document.createElement('div');
  frame.className = 'code';
  block.replaceWith(frame);
  frame.append(block, button);
}

// The language of the examples, for all of them and for the next pages.
const TAB = 'lynxroom-docs-language';
const tabs = [...document.querySelectorAll('.tabs input')];
const chooseTab = (name) => {
  for (const tab of tabs) if (tab.value === name) tab.checked = true;
};
for (const tab of tabs)
  tab.addEventListener('change', () => {
    const before = tab.getBoundingClientRect().top;
    chooseTab(tab.value);
    // The examples above may be longer or shorter now.
    window.scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
    remember(tab.value);
  });
// A browser may refuse to store anything.
const remember = (name) => {
  try {
    localStorage.setItem(TAB, name);
  } catch {}
};
try {
  chooseTab(localStorage.getItem(TAB));
} catch {}

const EXCERPT = 110;
const input = byId('search');
const results = byId('results');
let loading;

const load = () => {
  loading ??= fetch('/docs/guides/search.json').then((response) => response.json());
  return loading;
};

const excerptOf = ({ text }, [word]) => {
  const start = Math.max(0, text.toLowerCase().indexOf(word) - 30);
  return (start > 0 ? '... ' : '') + text.slice(start, start + EXCERPT) + (text.length > start + EXCERPT ? ' ...' : '');
};

const toItem = (entry, words) => {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const title = document.createElement('strong');
  const excerpt = document.createElement('span');
  link.href = entry.url;
  title.textContent = entry.heading === '' ? entry.page : `${entry.page}: ${entry.heading}`;
  excerpt.textContent = excerptOf(entry, words);
  link.append(title, excerpt);
  item.append(link);
  return item;
};

input.addEventListener('input', async () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const isSearching = words.length > 0;
  const found = isSearching ? findEntries(await load(), words) : [];
  const none = document.createElement('li');
  none.textContent = 'Nothing found';
  results.replaceChildren(...(found.length > 0 ? found.map((entry) => toItem(entry, words)) : [none]));
  results.hidden = !isSearching;
  byId('groups').hidden = isSearching;
});
input.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') results.querySelector('a')?.click();
});
// The link "Search" of the API reference ends in #search.
const openSearch = () => {
  if (location.hash !== '#search') return;
  byId('sidebar').classList.add('open');
  menu.setAttribute('aria-expanded', 'true');
  input.focus();
};
openSearch();
window.addEventListener('hashchange', openSearch);

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  input.focus();
});
