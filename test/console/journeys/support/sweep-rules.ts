/** The rules that every page follows. Each returns what breaks it, and runs in the page. */
import type { Page } from 'playwright-core';

/** Runs before the page: it records layout shifts, and animations that take time. */
export const RECORD_MOVEMENT = `
  window.sweep = { shifts: [], animations: [] };
  const describe = (element) => element instanceof Element
    ? element.tagName.toLowerCase() + '.' + (element.getAttribute('class') ?? '').split(' ').slice(0, 4).join('.')
    : 'a removed element';
  const addShifts = (entries) => {
    for (const { value, hadRecentInput, sources } of entries)
      // Nobody sees a smaller one.
      if (!hadRecentInput && value >= 0.0001)
        window.sweep.shifts.push({ value, moved: sources.map(({ node }) => describe(node)) });
  };
  const observer = new PerformanceObserver((list) => addShifts(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  window.sweep.flush = () => addShifts(observer.takeRecords());
  const MAX_MS = 5;
  window.sweep.addAnimations = () => {
    for (const { effect } of document.getAnimations())
      if (effect.getComputedTiming().endTime > MAX_MS) window.sweep.animations.push(describe(effect.target));
  };
  for (const type of ['animationstart', 'transitionrun'])
    addEventListener(type, () => window.sweep.addAnimations(), true);`;

/** True once the page shows its heading, and nothing is loaded any more. */
export const IS_LOADED = `
  document.querySelector('h1')?.checkVisibility() === true &&
  document.querySelector('.animate-pulse, [aria-busy=true]') === null &&
  !document.getElementById('status')?.textContent.startsWith('One moment')`;

/** What moved while the page was loaded. It reads the recorded entries. */
export function findShifts(page: Page): Promise<string[]> {
  return read(
    page,
    `window.sweep.flush(), window.sweep.shifts.map(({ value, moved }) => value.toFixed(4) + ' of ' + moved.join(', '))`,
  );
}

/** What moves, or would, although the person asked for less motion. */
export function findAnimations(page: Page): Promise<string[]> {
  return read(
    page,
    `{
      window.sweep.addAnimations();
      const toMs = (times) => Math.max(...times.split(', ').map((time) => parseFloat(time) * 1000));
      const slow = [...document.querySelectorAll('*')].filter((element) => {
        const { animationName, animationDuration, transitionDuration } = getComputedStyle(element);
        return (animationName !== 'none' && toMs(animationDuration) > 5) || toMs(transitionDuration) > 5;
      });
      [...new Set([...window.sweep.animations, ...slow.map((element) => element.outerHTML.slice(0, 120))])]
    }`,
  );
}

/** What makes the page wider than the screen, or has to be scrolled sideways. Only source text may. */
export function findOverflow(page: Page): Promise<string[]> {
  return read(
    page,
    `[document.documentElement, ...document.querySelectorAll('body *:not(pre)')]
      .filter((element) => {
        const scrolls = element === document.documentElement || /auto|scroll/.test(getComputedStyle(element).overflowX);
        return scrolls && element.checkVisibility() && element.scrollWidth > element.clientWidth + 1;
      })
      .map((element) => element.scrollWidth + ' px in ' + element.clientWidth + ' px: ' +
        element.outerHTML.slice(0, 120))`,
  );
}

/** More than one scroll bar. A dialog hides that of the page below it. */
export function findScrollBars(page: Page): Promise<string[]> {
  return read(
    page,
    `{
      const isOpen = document.querySelector('[role=dialog]') !== null;
      const bars = [document.documentElement, ...document.querySelectorAll('body *:not(textarea, pre)')].filter(
        (element) => {
          const { overflowY, scrollbarWidth } = getComputedStyle(element);
          const isPage = element === document.documentElement;
          const scrolls = isPage ? overflowY !== 'hidden' && !isOpen : /auto|scroll/.test(overflowY);
          return scrolls && scrollbarWidth !== 'none' && element.checkVisibility() &&
            element.scrollHeight > element.clientHeight + 1;
        });
      bars.length > 1 ? bars.map((element) => element.outerHTML.slice(0, 120)) : []
    }`,
  );
}

/** Other than one heading of the first level. */
export function findHeadings(page: Page): Promise<string[]> {
  return read(
    page,
    `{
      const shown = [...document.querySelectorAll('h1')].filter((heading) => heading.checkVisibility());
      shown.length === 1 ? [] : [shown.length + ' headings of level 1: ' + shown.map((h1) => h1.textContent).join(', ')]
    }`,
  );
}

/** Texts that are cut off, and have no title that says all of it. */
export function findCutOff(page: Page): Promise<string[]> {
  return read(
    page,
    `{
      const isCut = (element) => {
        const { overflowX, overflowY, webkitLineClamp, display } = getComputedStyle(element);
        if (display === 'inline' || element.clientWidth <= 1) return false;
        const hides = (overflow) => overflow === 'hidden' || overflow === 'clip';
        return (hides(overflowX) && element.scrollWidth > element.clientWidth + 1) ||
          ((webkitLineClamp !== 'none' || hides(overflowY)) && element.scrollHeight > element.clientHeight + 2);
      };
      const hasTitle = (element) => {
        const text = element.textContent.trim();
        return text === '' || (element.closest('[title]')?.title ?? '').includes(text);
      };
      [...document.querySelectorAll('body *:not(svg, svg *, input, textarea, select, option)')]
        .filter((element) => element.checkVisibility() && isCut(element) && !hasTitle(element))
        .map((element) => element.outerHTML.slice(0, 160))
    }`,
  );
}

/** The player of a video and the viewer of a PDF have many stops of their own, and more once they have loaded. */
const PLAYER_STOPS = 100;

/**
 * Goes through the page with the Tab key. Returns what it does not reach, and what looks the same with the focus as
 * without it.
 */
export async function findFocusFaults(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(`{
    const selector = 'a[href], button, input, select, textarea, summary, [tabindex]';
    const lookOf = (element) => {
      const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(element);
      return [outlineStyle === 'none' ? '' : outlineWidth + outlineColor, boxShadow].join();
    };
    // A field may show the focus around itself and its buttons.
    const looksOf = (element) => lookOf(element) + lookOf(element.parentElement);
    // Of a group of radio buttons, Tab reaches one.
    const elements = [...document.querySelectorAll(selector)].filter((element) =>
      element.tabIndex >= 0 && !element.disabled && element.checkVisibility({ visibilityProperty: true }) &&
      !element.closest('[inert], [aria-hidden=true]') && element.type !== 'radio');
    document.activeElement.blur();
    window.sweep.focus = { looks: new Map(elements.map((element) => [element, looksOf(element)])), faults: [] };
    window.sweep.focus.visit = () => {
      const element = document.activeElement;
      const { looks, faults } = window.sweep.focus;
      if (looks.get(element) === looksOf(element)) faults.push('without a sign: ' + element.outerHTML.slice(0, 120));
      looks.delete(element);
      return looks.size;
    };
    elements.length
  }`);
  let left = count;
  for (let step = 0; left > 0 && step < 2 * count + PLAYER_STOPS; step += 1) {
    await page.keyboard.press('Tab');
    left = await page.evaluate<number>('window.sweep.focus.visit()');
  }
  return read(
    page,
    `[...window.sweep.focus.faults,
      ...[...window.sweep.focus.looks.keys()].map((element) => 'not reached: ' + element.outerHTML.slice(0, 120))]`,
  );
}

function read(page: Page, expression: string): Promise<string[]> {
  return page.evaluate<string[]>(expression);
}
