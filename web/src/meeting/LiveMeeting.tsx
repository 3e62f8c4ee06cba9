import type { Meeting, MeetingSnapshot } from '@lynxroom/client/meeting';
import { useState } from 'react';
import { useTitle } from '../components/PageHeader.tsx';
import { useTexts } from '../languages/texts.ts';
import { resumeAudio } from './audio-levels.ts';
import { ChatPanel } from './ChatPanel.tsx';
import { ConsentDialog } from './ConsentDialog.tsx';
import { Controls, type Panel } from './Controls.tsx';
import type { CaptureKind, LocalMedia, LocalMediaState } from './local-media.ts';
import { MeetingHeader } from './MeetingHeader.tsx';
import { MeetingNotices } from './MeetingNotices.tsx';
import { PeoplePanel } from './PeoplePanel.tsx';
import { RecordingNotice } from './RecordingNotice.tsx';
import { whoWillSee } from './recording-texts.ts';
import { useShortcuts } from './shortcuts.ts';
import { ScreenChoice, Tiles } from './Tiles.tsx';
import type { Room } from './types.ts';
import { useChat } from './use-chat.ts';
import { useConsent } from './use-consent.ts';
import { useHost } from './use-host.ts';
import { useMuteRequest } from './use-mute-request.ts';
import { usePeople } from './use-people.ts';
import { useRecordButton } from './use-record-button.ts';
import { useScreenShare, useSharedScreens } from './use-screen.ts';
import { useSounds } from './use-sounds.ts';

type LiveMeetingProps = {
  room: Room;
  meeting: Meeting;
  snapshot: MeetingSnapshot;
  media: LocalMedia;
  state: LocalMediaState;
  /** The page has said before that the meeting is being recorded. */
  wasTold: boolean;
  onLeave: () => void;
};

/** The meeting, which fills the window. */
export function LiveMeeting({ room, meeting, snapshot, media, state, wasTold, onLeave }: LiveMeetingProps) {
  const { peers, recording, isChatEnabled } = snapshot;
  const { write } = useTexts();
  const [panel, setPanel] = useState<Panel | null>(null);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const people = usePeople(snapshot, state);
  const host = useHost(room.name, meeting, snapshot);
  const share = useScreenShare(meeting, snapshot);
  const shared = useSharedScreens(snapshot);
  const chat = useChat(meeting, panel === 'chat');
  const consent = useConsent(room.name, snapshot, wasTold);
  const { recorder, button: record, again } = useRecordButton(room, meeting, snapshot);
  const muteRequest = useMuteRequest(meeting, state.isOn.microphone);
  const { sounds, isBlocked } = useSounds(peers, state.chosen.speaker);
  const title = room.display_name ?? room.name;
  useTitle(title);

  const toggle = (kind: CaptureKind): void => void media.setOn(kind, !state.isOn[kind]);
  const togglePanel = (wanted: Panel): void => setPanel((shown) => (shown === wanted ? null : wanted));
  useShortcuts({
    m: () => toggle('microphone'),
    v: () => toggle('camera'),
    p: () => togglePanel('people'),
    c: () => togglePanel('chat'),
    '?': () => setIsHelpOpen(true),
    ...(share !== null && { s: share.toggle }),
    ...(record !== null && { r: record.toggle }),
  });

  return (
    <div data-meeting className="fixed inset-0 flex flex-col bg-panel">
      <MeetingHeader
        title={title}
        room={room}
        snapshot={snapshot}
        media={media}
        state={state}
        isHelpOpen={isHelpOpen}
        onHelp={setIsHelpOpen}
      />
      {recording !== null && <RecordingNotice name={recording.name} isBar />}
      <div className="relative flex min-h-0 flex-1">
        <main className="relative min-w-0 flex-1">
          <Tiles people={people} screen={shared.shown} />
          <MeetingNotices
            roomName={room.name}
            isAlone={peers.length === 0 && (host === null || host.waiting.length === 0)}
            isReconnecting={snapshot.state === 'reconnecting'}
            isSoundBlocked={isBlocked}
            isSharing={share?.isSharing === true}
            muteRequestedBy={muteRequest.by}
            recorder={recorder}
            failed={snapshot.failedRecording}
            isRecorded={recording !== null}
            again={again}
            waitingFor={panel === 'people' ? null : host}
            onTurnOnSound={() => {
              resumeAudio();
              sounds.resume();
            }}
            onMute={() => void media.setOn('microphone', false)}
            onDismissMute={muteRequest.answer}
            onShowPeople={() => setPanel('people')}
          />
          <ScreenChoice screens={shared.screens} onChoose={shared.choose} />
        </main>
        {panel === 'people' && (
          <PeoplePanel snapshot={snapshot} host={host} isOn={state.isOn} onClose={() => setPanel(null)} />
        )}
        {panel === 'chat' && (
          <ChatPanel
            messages={chat.messages}
            isEnabled={isChatEnabled}
            onSend={meeting.sendChat}
            onClose={() => setPanel(null)}
          />
        )}
      </div>
      <Controls
        isOn={state.isOn}
        onToggle={toggle}
        share={share}
        record={record}
        panel={panel}
        onPanel={togglePanel}
        waitingCount={host?.waiting.length ?? 0}
        unreadCount={chat.unreadCount}
        onLeave={onLeave}
      />
      {consent.asked !== null && (
        <ConsentDialog
          name={consent.asked.name}
          whoWillSee={write(whoWillSee(room))}
          onStay={consent.accept}
          onLeave={onLeave}
        />
      )}
    </div>
  );
}
