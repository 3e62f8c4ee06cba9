import { createFileRoute, Link, Outlet } from '@tanstack/react-router';
import { Frame } from '../../frame/Frame.tsx';
import { requireAccount } from '../../lib/session.ts';
import { accountPages } from '../../navigation.ts';

export const Route = createFileRoute('/account')({ beforeLoad: requireAccount, component: AccountLayout });

function AccountLayout() {
  return (
    <Frame navigation={<AccountNavigation />}>
      <Outlet />
    </Frame>
  );
}

function AccountNavigation() {
  return (
    <nav aria-label="Pages">
      <p className="mb-1 px-3 text-sm text-muted">Account</p>
      <ul className="m-0 flex list-none flex-col gap-0.5 p-0">
        {accountPages.map((page) => (
          <li key={page.to}>
            <Link
              to={page.to}
              activeOptions={{ exact: true }}
              className="flex min-h-9 items-center gap-3 rounded-lg px-3 py-1.5 no-underline hover:bg-hover aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text"
            >
              <page.icon aria-hidden size={18} />
              {page.label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
