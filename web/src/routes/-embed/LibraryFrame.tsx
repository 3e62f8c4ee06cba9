/** The library in a frame. Nothing is in a dialog: the frame is as high as its content, and its page scrolls. */
import type { LibraryItem } from '@lynxroom/client';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ArrowLeft, FolderOpen } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { ErrorPanel } from '../../components/ErrorPanel.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { SearchField } from '../../components/SearchField.tsx';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { InfiniteList } from '../../components/Table.tsx';
import { trpc } from '../../lib/client.ts';
import { useWorkspaceId } from '../../lib/workspace.ts';
import { ItemDetails, ItemPreview } from '../w/$workspaceId/-library/ItemPreview.tsx';
import { ItemSummary } from '../w/$workspaceId/-library/ItemSummary.tsx';
import { LabelTag } from '../w/$workspaceId/-library/LabelTag.tsx';
import { DropArea, UploadButton, UploadList } from '../w/$workspaceId/-library/Uploads.tsx';

const PAGE_SIZE = 20;

export default function LibraryFrame({ mayUpload }: { mayUpload: boolean }) {
  const [search, setSearch] = useState('');
  const [openId, setOpenId] = useState<number | null>(null);
  if (openId !== null) return <OpenItem itemId={openId} onBack={() => setOpenId(null)} />;
  const list = (
    <>
      <SearchField label="Search by name" placeholder="Search by name" value={search} onSearch={setSearch} />
      <div className="mt-3">
        <Items search={search} onOpen={setOpenId} />
      </div>
    </>
  );
  if (!mayUpload) {
    return (
      <>
        <PageHeader title="Library" />
        {list}
      </>
    );
  }
  return <WithUploads>{list}</WithUploads>;
}

function WithUploads({ children }: { children: ReactNode }) {
  const id = useWorkspaceId();
  return (
    <DropArea workspaceId={id}>
      <PageHeader
        title="Library"
        text="PDF and MP4 files of up to 100 MB. Drop them anywhere on this page."
        actions={<UploadButton workspaceId={id} />}
      />
      <UploadList workspaceId={id} />
      {children}
    </DropArea>
  );
}

function Items({ search, onOpen }: { search: string; onOpen: (itemId: number) => void }) {
  const id = useWorkspaceId();
  const items = useInfiniteQuery({
    ...trpc.library.list.infiniteQueryOptions(
      { id, limit: PAGE_SIZE, ...(search !== '' && { search }) },
      { getNextPageParam: (page) => page.next_cursor },
    ),
    placeholderData: keepPreviousData,
  });
  return (
    <InfiniteList
      list={items}
      rowsOf={(page) => page.items}
      failure="The library could not be loaded"
      empty={
        <EmptyState
          icon={<FolderOpen aria-hidden size={32} />}
          title={search === '' ? 'The library is empty' : 'Nothing found'}
        />
      }
    >
      {(rows: readonly LibraryItem[]) => (
        <ul aria-label="Items" className="m-0 list-none divide-y divide-line rounded-xl border border-line p-0">
          {rows.map((item) => (
            <li key={item.id} className="flex h-16 items-center gap-3 px-3">
              <ItemSummary item={item} onOpen={onOpen} />
            </li>
          ))}
        </ul>
      )}
    </InfiniteList>
  );
}

function OpenItem({ itemId, onBack }: { itemId: number; onBack: () => void }) {
  const id = useWorkspaceId();
  const item = useQuery(trpc.library.read.queryOptions({ id, itemId }));
  return (
    <>
      <p className="mb-2">
        <Button size="small" tone="quiet" icon={<ArrowLeft aria-hidden size={16} />} onClick={onBack}>
          Library
        </Button>
      </p>
      <PageHeader title={item.data?.item.name ?? 'Item'} />
      {item.isPending && <SkeletonRows count={3} />}
      {item.isError && (
        <ErrorPanel what="The item could not be loaded" error={item.error} onRetry={() => item.refetch()} />
      )}
      {item.isSuccess && (
        <div className="flex flex-col gap-4">
          <ItemPreview item={item.data.item} />
          <ItemDetails item={item.data.item} />
          {item.data.item.description !== '' && (
            <p className="whitespace-pre-line wrap-anywhere">{item.data.item.description}</p>
          )}
          <p className="flex flex-wrap gap-3">
            {item.data.item.labels.map((label) => (
              <LabelTag key={label.id} {...label} />
            ))}
          </p>
        </div>
      )}
    </>
  );
}
