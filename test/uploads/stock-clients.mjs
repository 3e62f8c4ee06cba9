/** Uploads with stock clients of the protocol. It is JavaScript, because their types declare those of browsers. */
import Uppy from '@uppy/core';
import UppyTus from '@uppy/tus';
import * as tus from 'tus-js-client';

/** Uploads until the server has accepted `stopAfter` bytes, and returns the URL of the upload. */
export function beginWithTus(file, options, stopAfter) {
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(file, {
      ...options,
      onError: reject,
      onChunkComplete(_size, accepted) {
        if (accepted >= stopAfter) upload.abort().then(() => resolve(upload.url), reject);
      },
    });
    upload.start();
  });
}

/** Uploads a file, or the rest of it, and returns the path of the result. */
export function uploadWithTus(file, options) {
  return new Promise((resolve, reject) => {
    const onSuccess = ({ lastResponse }) => resolve(lastResponse.getHeader('upload-result'));
    new tus.Upload(file, { ...options, onError: reject, onSuccess }).start();
  });
}

export async function uploadWithUppy(file, options) {
  const uppy = new Uppy().use(UppyTus, options);
  uppy.addFile(file);
  const { failed, successful } = await uppy.upload();
  return { errors: failed.map(({ error }) => error), count: successful.length };
}
