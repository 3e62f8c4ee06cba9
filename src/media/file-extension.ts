/** File name extensions, and which of them belong to file types that the service does not store. */

/** How much of the end of a file name is examined, in UTF-16 code units. Stored names are shorter. */
const MAX_EXAMINED = 512;

const documents = [
  ...[
    'doc',
    'docm',
    'docx',
    'dot',
    'dotm',
    'dotx',
    'odt',
    'ott',
    'rtf',
    'pages',
    'wpd',
    'epub',
    'mobi',
    'azw3',
    'djvu',
  ],
  ...['xls', 'xlsb', 'xlsm', 'xlsx', 'xlt', 'xltm', 'xltx', 'ods', 'ots', 'numbers', 'csv', 'tsv'],
  ...['ppt', 'pptm', 'pptx', 'pps', 'ppsm', 'ppsx', 'pot', 'potm', 'potx', 'odp', 'otp', 'odg', 'vsd', 'vsdx', 'pub'],
  ...['txt', 'md', 'tex', 'xps', 'oxps', 'eml', 'msg', 'mbox', 'ics', 'vcf', 'one', 'ps', 'eps'],
];

const images = [
  ...['apng', 'avif', 'bmp', 'gif', 'heic', 'heif', 'ico', 'jp2', 'jpe', 'jpeg', 'jpg', 'jxl', 'png', 'svg', 'svgz'],
  ...['tif', 'tiff', 'webp', 'psd', 'ai', 'indd', 'xcf', 'raw', 'cr2', 'nef', 'dng', 'dwg', 'dxf'],
];

const audioAndVideo = [
  ...['aac', 'aif', 'aiff', 'flac', 'm4a', 'm4b', 'mid', 'midi', 'mp2', 'mp3', 'oga', 'ogg', 'opus', 'wav', 'weba'],
  ...['wma', '3g2', '3gp', 'avi', 'flv', 'm2ts', 'mkv', 'mov', 'mpe', 'mpeg', 'mpg', 'mts', 'ogv', 'qt', 'vob'],
  ...['wmv', 'srt', 'vtt', 'm3u', 'm3u8', 'mpd'],
];

const archivesAndImages = [
  ...['7z', 'bz2', 'cab', 'gz', 'lz', 'lz4', 'lzma', 'rar', 'tar', 'tbz2', 'tgz', 'txz', 'xz', 'z', 'zip', 'zst'],
  ...['dmg', 'img', 'iso', 'vhd', 'vhdx', 'vmdk', 'qcow2', 'deb', 'rpm', 'apk', 'ipa', 'aab', 'jar', 'war', 'ear'],
];

const programs = [
  ...['exe', 'com', 'scr', 'pif', 'cpl', 'msc', 'msi', 'msix', 'msp', 'mst', 'appx', 'dll', 'ocx', 'sys', 'drv', 'lnk'],
  ...['url', 'website', 'desktop', 'scf', 'inf', 'reg', 'hta', 'chm', 'hlp', 'gadget', 'application', 'appref-ms'],
  ...['bat', 'cmd', 'ps1', 'psm1', 'vb', 'vbe', 'vbs', 'ws', 'wsc', 'wsf', 'wsh', 'jse', 'sct', 'xll', 'iqy', 'slk'],
  ...['sh', 'bash', 'zsh', 'csh', 'fish', 'command', 'app', 'pkg', 'run', 'bin', 'elf', 'so', 'dylib', 'o', 'class'],
  ...['scpt', 'applescript', 'workflow', 'terminal', 'swf', 'xpi', 'crx', 'settingcontent-ms', 'library-ms', 'theme'],
];

const webAndSource = [
  ...['htm', 'html', 'xhtml', 'xht', 'shtml', 'mht', 'mhtml', 'webarchive', 'css', 'js', 'mjs', 'cjs', 'jsx', 'ts'],
  ...['tsx', 'wasm', 'xml', 'xsl', 'xslt', 'json', 'jsonl', 'yaml', 'yml', 'toml', 'ini', 'log', 'sql', 'map'],
  ...['php', 'php3', 'php4', 'php5', 'phar', 'phtml', 'asp', 'aspx', 'ashx', 'asmx', 'jsp', 'jspx', 'cgi', 'cfm'],
  ...['py', 'pyc', 'pyw', 'ipynb', 'rb', 'pl', 'pm', 'lua', 'r', 'c', 'h', 'cc', 'cpp', 'hpp', 'cs', 'go', 'rs'],
  ...['java', 'kt', 'swift', 'scala', 'sqlite', 'db', 'mdb', 'accdb', 'bak', 'pem', 'key', 'p12', 'pfx', 'crt', 'cer'],
  ...['ttf', 'otf', 'woff', 'woff2', 'eot'],
];

const otherKinds: ReadonlySet<string> = new Set([
  ...documents,
  ...images,
  ...audioAndVideo,
  ...archivesAndImages,
  ...programs,
  ...webAndSource,
]);

/**
 * Whether a file name has the extension of a file type other than those that the service stores. False for an unknown
 * extension, because the text after the last dot of a name may be part of a sentence.
 */
export function hasForeignExtension(filename: string): boolean {
  return otherKinds.has(extensionOf(filename));
}

/**
 * The extension of a file name in lower case, or an empty string. Ignores characters that are not shown, and the dots
 * and spaces that Windows removes from the end of a name.
 */
export function extensionOf(filename: string): string {
  const end = filename.slice(-MAX_EXAMINED).replace(/[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '');
  return /\.([a-z0-9-]{1,20})$/i.exec(end.replace(/(?<![.\s])[.\s]+$/u, ''))?.[1]?.toLowerCase() ?? '';
}
