import { isLynxroomError } from '@lynxroom/client';
import { createLynxroom } from '../../../lib/lynxroom.ts';
import { requirePerson } from '../../../lib/people.ts';

/** Leads the doctor to the file, by a URL that works for a few minutes. */
export async function GET(_request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  await requirePerson('doctor');
  const recordingId = Number((await params).id);
  if (!Number.isInteger(recordingId)) return new Response('Recording not found', { status: 404 });
  try {
    const { url } = await createLynxroom().recordings.download.query({ recordingId });
    return Response.redirect(url);
  } catch (error) {
    if (isLynxroomError(error) && error.code === 'NOT_FOUND') return new Response(error.message, { status: 404 });
    throw error;
  }
}
