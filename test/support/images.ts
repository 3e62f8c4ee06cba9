/** Small pictures, made by ffmpeg. */
/** 32 × 18 pixels. */
export const jpeg = decode(
  '/9j/4AAQSkZJRgABAgAAAQABAAD//gAQTGF2YzU5LjM3LjEwMAD/2wBDAAgoKC8oLzc3Nzc3N0E8QUNDQ0FBQUFDQ0NISEhVVVVI' +
    'SEhDQ0hIUFBVVVxfXFdXVVdfX2RkZHh4c3OMjJGsrM//xAB0AAADAQAAAAAAAAAAAAAAAAAEBgUHAQEBAQEAAAAAAAAAAAAAAAAG' +
    'BAUCEAABAwIEBwEBAQAAAAAAAAABAgARMSEiQRIDUXGBQvAyEyPBoREAAQMEAQMFAQAAAAAAAAAAAQACEYEDIUEyEjFxobEzUvCR' +
    '/8AAEQgAEgAgAwEiAAIRAAMRAP/aAAwDAQACEQMRAD8Ay7GVEJ55W6luCN7fSSAcpomI4zEQ5KI/RNSdJjjFWwAj56IvXRnGqY5x' +
    '1eNeum6cjE4BzErdfbHXk8Zg+kD9RZpj21CbGoobHhk2bb3d2+k/4P6x1mPkkYSCowe2TIlm7d/oDiJINu6DeGiddeWySf6ftE+N' +
    '91GWgtLdHVAY867JcV7nzJkpYyvc+ZMlLP6oub3ymvuUuCrrhyBV1w1rlAeBX//Z',
);

/** 32 × 18 pixels. */
export const webp = decode(
  'UklGRvwAAABXRUJQVlA4IPAAAAAQBgCdASogABIAPzmEuVOvKKWisAgB4CcJbACdMoR8qPhsK+vgV0AAQYGtMQNeyBF6XphvSjY8' +
    'MEAA/r4OwteABiEQjVGHGwaNNY9D2E5nzAPsij8OPrUV+0TEpvwaLwdkRWkRxCqR4Gzck2utKCCAxKUzBqBcG9BtL/toUYsqAyk+' +
    '6Ze43NRkHORzrJ49CaI4PtwnrLPH3bPMWi8MkK1WLRoqzUvwLmu5w9dwMW5IZTVZ1NBx73ancIKh5sI19bnt6n3rcaMWnH6tD/Bv' +
    'SzL/wLP8G9L3+5u9yo/kUrYxvRTAI8UKYpYNLmdx1MyNAAA=',
);

/** 16 × 9 pixels, with an alpha channel. */
export const transparentWebp = decode(
  'UklGRpAAAABXRUJQVlA4WAoAAAAQAAAADwAACAAAQUxQSAoAAAABB9DAiAhERP8DVlA4IGAAAADwAQCdASoQAAkAB0CWJbACdAEK' +
    'b3oLcQAA/qErnQIoG+Davg2GHrlUOpHTS4IOIo0jexjoZ6BlnKhDf533LlK/ln2vHoElvoJp7FOsJ37mFiXEZNWBJWt2iq/was1V' +
    '8AA=',
);

/** 4 × 4 pixels. */
export const losslessWebp = decode('UklGRhwAAABXRUJQVlA4TA8AAAAvA8AAAAcQ9Y/+ByKi/wEA');

/** 24 × 8 pixels of one color. */
export const png = decode(
  'iVBORw0KGgoAAAANSUhEUgAAABgAAAAICAIAAABsw6g0AAAAFElEQVR42mPgL8ujCmIYNWgkGwQAqCm2QXFwVwQAAAAASUVORK5CYII=',
);

function decode(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
