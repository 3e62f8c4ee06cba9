import { jpeg } from '../../support/images.ts';
import { makePdf } from '../../support/media.ts';
import { pdfMetadata } from '../../uploads/tus-fixtures.ts';
import { bytesContent, fileContent, imageContent } from '../content.ts';
import { inWorkspace, type Refusal, type Rows } from '../row.ts';
import type { Scene, User } from '../scene.ts';
import type { Input } from '../transports.ts';

const wrongItemIds: readonly Refusal[] = [
  { input: { item_ids: undefined }, message: 'item_ids is required', path: 'item_ids' },
  { input: { item_ids: [] }, message: 'item_ids must name at least one item', path: 'item_ids' },
  {
    input: { item_ids: Array.from({ length: 101 }, (_, index) => index + 1) },
    message: 'item_ids must have at most 100 entries',
    path: 'item_ids',
  },
  { input: { item_ids: ['1'] }, message: 'item_ids.0 must be a positive 32-bit integer', path: 'item_ids.0' },
];

const tus = { 'tus-resumable': '1.0.0' };

/** An upload of the caller. Who is not in the scene gets that of the owner. */
const upload = (scene: Scene, by: User): Input => ({
  ...inWorkspace(scene),
  uploadId: scene.uploadIds[by.id] ?? scene.uploadIds[scene.owner.id] ?? '',
});

const unknownUpload = { uploadId: 'Upload not found' };

const anotherVersion = (input: (scene: Scene) => Input) => ({
  'another version of the protocol': {
    call: (scene: Scene) => ({ token: scene.member.token, input: input(scene), headers: { 'tus-resumable': '0.2.2' } }),
    status: 412,
    message: 'Tus-Resumable must be 1.0.0',
  },
});

const noPoster = 'The poster must be a JPEG or WebP image';

export const libraryRows: Rows = {
  'library.setPoster': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), itemId: scene.itemId }),
    content: () => imageContent(jpeg),
    writes: true,
    children: { itemId: 'Item not found' },
    cases: {
      'a body that is no image': {
        call: ({ member }) => ({ token: member.token, content: { body: 'poster' } }),
        status: 400,
        message: noPoster,
      },
    },
  },
  'library.poster': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), itemId: scene.itemId }),
    writes: false,
    children: { itemId: 'Item not found' },
  },
  'library.createUpload': {
    who: 'member',
    keys: true,
    status: 201,
    input: inWorkspace,
    headers: { ...tus, 'upload-length': '100', 'upload-metadata': pdfMetadata },
    writes: true,
    cases: {
      ...anotherVersion(inWorkspace),
      'more bytes than an item may have': {
        call: (scene) => ({
          token: scene.member.token,
          input: inWorkspace(scene),
          headers: { ...tus, 'upload-length': '104857601', 'upload-metadata': pdfMetadata },
        }),
        status: 413,
        message: 'File is larger than 100 MB',
      },
      'neither a length nor a deferred one': {
        call: (scene) => ({ token: scene.member.token, input: inWorkspace(scene), headers: tus }),
        status: 400,
        message: 'Either Upload-Length or Upload-Defer-Length is required',
      },
    },
  },
  'library.appendUpload': {
    who: 'member',
    keys: true,
    status: 204,
    input: upload,
    content: () => bytesContent(makePdf().subarray(0, 50)),
    headers: tus,
    writes: true,
    children: unknownUpload,
    cases: anotherVersion((scene) => upload(scene, scene.member)),
  },
  'library.readUpload': {
    who: 'member',
    keys: true,
    input: upload,
    headers: tus,
    writes: false,
    children: unknownUpload,
  },
  'library.cancelUpload': {
    who: 'member',
    keys: true,
    status: 204,
    input: upload,
    headers: tus,
    writes: true,
    children: unknownUpload,
    cases: anotherVersion((scene) => upload(scene, scene.member)),
  },

  'library.list': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), search: 'CONTRACT', sort: 'name', order: 'asc', limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...[0, 101, -1, 1.5, 'abc', '1e1'].map((limit) => ({
        input: { limit },
        message: 'limit must be an integer between 1 and 100',
        path: 'limit',
      })),
      { input: { offset: -1 }, message: 'offset must be an integer between 0 and 2147483647', path: 'offset' },
      { input: { cursor: 'x' }, message: 'cursor must be the next_cursor of an earlier page', path: 'cursor' },
      { input: { sort: 'colour' }, message: 'sort must be one of date, name, size', path: 'sort' },
      { input: { order: 'DESC' }, message: 'order must be one of asc, desc', path: 'order' },
      { input: { label: 0 }, message: 'label must be a positive 32-bit integer', path: 'label' },
      { input: { search: 'x'.repeat(201) }, message: 'search must have at most 200 characters', path: 'search' },
    ],
  },
  'library.read': { who: 'member', keys: true, input: item, writes: false, children: { itemId: 'Item not found' } },
  'library.download': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), disposition: 'inline' }),
    writes: false,
    children: { itemId: 'Item not found' },
    wrong: [
      {
        input: { disposition: 'frame' },
        message: 'disposition must be one of attachment, inline',
        path: 'disposition',
      },
    ],
  },
  'library.file': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), disposition: 'attachment' }),
    writes: false,
    children: { itemId: 'Item not found' },
    wrong: [
      {
        input: { disposition: 'frame' },
        message: 'disposition must be one of attachment, inline',
        path: 'disposition',
      },
    ],
  },
  'library.update': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), name: 'Renamed.pdf', description: 'Two\nlines' }),
    writes: true,
    children: { itemId: 'Item not found' },
    wrong: [
      { input: { name: '' }, message: 'Name cannot be empty', path: 'name' },
      { input: { name: '  ' }, message: 'Name cannot be empty', path: 'name' },
      { input: { name: 5 }, message: 'name must be a string', path: 'name' },
      { input: { description: 7 }, message: 'description must be a string', path: 'description' },
    ],
  },
  'library.delete': { who: 'member', keys: true, input: item, writes: true, children: { itemId: 'Item not found' } },
  'library.deleteMany': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), item_ids: [scene.itemId, 2_000_000_000] }),
    writes: true,
    wrong: wrongItemIds,
  },
  'library.labelMany': {
    who: 'member',
    keys: true,
    input: (scene) => ({
      ...inWorkspace(scene),
      item_ids: [scene.itemId],
      add_label_ids: [scene.blueId],
      remove_label_ids: [scene.redId],
    }),
    writes: true,
    wrong: [
      ...wrongItemIds,
      {
        input: { add_label_ids: [1], remove_label_ids: [1] },
        message: 'A label cannot be both added and removed',
        path: 'remove_label_ids',
      },
      {
        input: { add_label_ids: Array.from({ length: 21 }, (_, index) => index + 1) },
        message: 'add_label_ids must have at most 20 entries',
        path: 'add_label_ids',
      },
    ],
  },
  'library.assignLabel': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), labelId: scene.blueId }),
    writes: true,
    children: { itemId: 'Item not found', labelId: 'Label not found' },
    wrong: [
      { input: { labelId: undefined }, message: 'labelId is required', path: 'labelId' },
      { input: { labelId: null }, message: 'labelId is required', path: 'labelId' },
      { input: { labelId: true }, message: 'labelId must be a positive 32-bit integer', path: 'labelId' },
      { input: { labelId: '1' }, message: 'labelId must be a positive 32-bit integer', path: 'labelId' },
    ],
  },
  'library.unassignLabel': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), labelId: scene.redId }),
    writes: true,
    children: { itemId: 'Item not found', labelId: 'Label not found' },
  },
  'library.upload': {
    who: 'member',
    keys: true,
    input: inWorkspace,
    content: () => fileContent(makePdf(), 'contract.pdf', 'application/pdf'),
    writes: true,
  },
};

function item(scene: Scene): Input {
  return { ...inWorkspace(scene), itemId: scene.itemId };
}
