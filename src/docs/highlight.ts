/**
 * Marks the comments, strings, numbers and keywords of code in guides. It does not parse the code: a wrong color is
 * harmless.
 */
import { escapeHtml } from '../core/escape-html.ts';

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/;
const HASH_COMMENT = /(?<=^|\s)#.*$/;
const SLASH_COMMENT = /(?<=^|\s)\/\/.*$/;
const NUMBER = /\b\d+(?:\.\d+)?\b/;
const KEYWORD = new RegExp(
  '\\b(?:async|await|break|catch|class|const|def|else|export|false|for|foreach|from|func|function|if|import|in|' +
    'let|new|null|package|return|throw|true|try|type|var|while|select|where|alter|role|set|create|table)\\b',
);

const hashLanguages = ['sh', 'python', 'yaml', 'ini', 'console'];

export function highlight(code: string, language: string): string {
  if (language === '' || language === 'text') return escapeHtml(code);
  const comment = hashLanguages.includes(language) ? HASH_COMMENT : SLASH_COMMENT;
  const parts = [
    `(?<comment>${comment.source})`,
    `(?<string>${STRING.source})`,
    `(?<number>${NUMBER.source})`,
    `(?<keyword>${KEYWORD.source})`,
  ];
  let html = '';
  let end = 0;
  for (const found of code.matchAll(new RegExp(parts.join('|'), 'gm'))) {
    const [kind = ''] = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    html += `${escapeHtml(code.slice(end, found.index))}<span class="${kind}">${escapeHtml(found[0])}</span>`;
    end = found.index + found[0].length;
  }
  return html + escapeHtml(code.slice(end));
}
