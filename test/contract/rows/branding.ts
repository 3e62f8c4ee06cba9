import { jpeg } from '../../support/images.ts';
import { imageContent } from '../content.ts';
import { inWorkspace, type Rows } from '../row.ts';

const links = ['imprint_url', 'privacy_url'].flatMap((path) =>
  ['http://example.com', 'javascript:alert(1)', 'example.com', 'https://user@example.com', ''].map((url) => ({
    input: { [path]: url },
    message: `${path} must be a URL that begins with https://`,
    path,
  })),
);

export const brandingRows: Rows = {
  'branding.read': { who: 'member', keys: true, input: inWorkspace, writes: false, random: ['logo_url'] },
  'branding.change': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), color: '#0f766e', privacy_url: 'https://example.com/privacy' }),
    writes: true,
    random: ['logo_url'],
    wrong: [
      ...['red', '#12345', 'url(x)'].map((color) => ({
        input: { color },
        message: 'color must be a hex color such as #6366f1',
        path: 'color',
      })),
      { input: { language: 'it' }, message: 'language must be one of en, de, fr, es, ar', path: 'language' },
      { input: { color: 5 }, message: 'color must be a string', path: 'color' },
      ...links,
      {
        input: { imprint_url: `https://example.com/${'a'.repeat(2_000)}` },
        message: 'imprint_url must have at most 2000 characters',
        path: 'imprint_url',
      },
    ],
  },
  'branding.removeLogo': { who: 'owner', keys: true, input: inWorkspace, writes: true },
  'branding.setLogo': {
    who: 'owner',
    keys: true,
    input: inWorkspace,
    content: () => imageContent(jpeg),
    writes: true,
    cases: {
      'a body that is no image': {
        call: ({ owner }) => ({ token: owner.token, content: { body: '<svg xmlns="http://www.w3.org/2000/svg"/>' } }),
        status: 400,
        message: 'The logo must be a PNG, JPEG or WebP image',
      },
    },
  },
  'branding.logo': {
    who: 'anyone',
    keys: true,
    input: ({ logoName }) => ({ name: logoName }),
    writes: false,
    children: { name: 'Logo not found' },
  },
};
