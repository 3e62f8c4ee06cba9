// Sets the theme before the first paint. A file of its own, because the policy of the page allows no inline script.
let theme = null;
try {
  theme = localStorage.getItem('lynxroom.theme');
} catch {
  // The browser blocks the data of sites.
}
// The page that shows this one in a frame may have chosen.
if (location.pathname.startsWith('/embed/')) theme = new URLSearchParams(location.search).get('theme');
const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.classList.toggle('dark', isDark);
