// The search of guides and operations.
const MAX_RESULTS = 12;

// Every word must occur. A page whose title, heading or terms have the words comes first. The first entry of a page has
// the terms, which count less for the page's other sections.
export function findEntries(entries, words) {
  const termsByPage = new Map(entries.filter(({ terms }) => terms).map(({ page, terms }) => [page, terms]));
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, termsByPage.get(entry.page) ?? '', words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_RESULTS)
    .map(({ entry }) => entry);
}

function scoreOf({ page, heading, text }, terms, words) {
  const isFirst = heading === '';
  const title = `${page} ${heading}`.toLowerCase();
  const body = text.toLowerCase();
  let score = 0;
  let isPage = isFirst;
  for (const word of words) {
    // Terms match from the beginning of a word, in the singular: "ice" is not in "voice".
    const isTerm = ` ${terms}`.includes(` ${word.replace(/(?<=...)s$/, '')}`);
    const isTitle = title.includes(word) || (isFirst && isTerm);
    const found = (isTitle ? 10 : 0) + (body.includes(word) || (!isFirst && isTerm) ? 1 : 0);
    if (found === 0) return 0;
    score += found;
    isPage &&= isTitle;
  }
  return score + (isPage ? 5 : 0);
}
