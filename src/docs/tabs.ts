/**
 * Blocks of code that follow each other and have a tab, such as `curl`, are the same example in several languages. A
 * reader chooses one with radio buttons, which need no script: `guide.css` hides the other blocks. `guide.js` applies
 * the choice to all examples, and remembers it.
 */
import type { TokenizerAndRendererExtension, Tokens } from 'marked';
import { escapeHtml } from '../core/escape-html.ts';

export const tabNames = ['curl', 'TypeScript', 'Python'] as const;

const BLOCK = '```(\\w+)[^\\n`]* tab="([^"\\n]+)"[^\\n]*\\n(.*?)\\n```(?:\\n|$)';
const BLOCKS = new RegExp(`^${BLOCK}(?:\\s*${BLOCK})+`, 's');

/** An extension of the Markdown renderer. `renderCode` returns the HTML of one block. */
export function createTabs(renderCode: (token: Tokens.Code) => string): TokenizerAndRendererExtension {
  let count = 0;
  return {
    name: 'tabs',
    level: 'block',
    start: (source) => source.search(/^```\w+[^\n]* tab="/m),
    tokenizer(source) {
      const [raw] = BLOCKS.exec(source) ?? [];
      return raw === undefined ? undefined : { type: 'tabs', raw };
    },
    renderer({ raw }) {
      count += 1;
      const blocks = [...raw.matchAll(new RegExp(BLOCK, 'gs'))];
      return renderTabs(
        `example-${count}`,
        blocks.map(([block, lang = '', name = '', text = '']) => ({
          name,
          html: renderCode({ type: 'code', raw: block, lang, text }),
        })),
      );
    },
  };
}

/** `id` distinguishes the examples of a page. */
function renderTabs(id: string, tabs: { name: string; html: string }[]): string {
  const buttons = tabs.map(({ name }, index) => {
    const [value, checked] = [escapeHtml(name), index === 0 ? ' checked' : ''];
    return `<label><input type="radio" name="${id}" value="${value}"${checked}>${value}</label>`;
  });
  const panels = tabs.map(({ name, html }) => `<div class="tab" data-tab="${escapeHtml(name)}">${html}</div>`);
  return (
    `<div class="tabs"><fieldset><legend>Language of the example</legend>${buttons.join('')}</fieldset>` +
    `${panels.join('')}</div>\n`
  );
}
