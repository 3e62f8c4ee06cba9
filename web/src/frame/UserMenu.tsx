import { Link } from '@tanstack/react-router';
import { BookOpen, CircleUser, LogOut, Mail, Settings } from 'lucide-react';
import { IconButton } from '../components/Button.tsx';
import { Menu, MenuChoice, MenuItem, MenuLink, MenuSeparator } from '../components/Menu.tsx';
import { isLocal } from '../lib/is-local.ts';
import { useAccount } from '../lib/session.ts';
import { setTheme, type Theme, useTheme } from '../lib/theme.ts';
import { useSignOut } from './use-sign-out.ts';

const themes: readonly { value: Theme; label: string }[] = [
  { value: 'system', label: 'Same as system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

/** The account, the theme, and signing out. */
export function UserMenu() {
  const user = useAccount();
  const theme = useTheme();
  const signOut = useSignOut();
  return (
    <Menu trigger={<IconButton label="Account" icon={<CircleUser aria-hidden size={22} />} />}>
      <p className="px-3 py-2">
        <span className="block font-medium">{user?.name}</span>
        <span className="block text-sm text-muted">{user?.email}</span>
      </p>
      <MenuSeparator />
      <MenuChoice label="Theme" value={theme} options={themes} onChange={setTheme} />
      <MenuSeparator />
      <MenuLink icon={<Settings aria-hidden size={16} />} link={<Link to="/account" />}>
        Account
      </MenuLink>
      {/* Not pages of the console, or pages that redirect away from it. */}
      <MenuLink icon={<BookOpen aria-hidden size={16} />} link={<a href="/docs/guides">Guides</a>}>
        Guides
      </MenuLink>
      {isLocal && (
        <MenuLink icon={<Mail aria-hidden size={16} />} link={<a href="/mail">Mail</a>}>
          Mail
        </MenuLink>
      )}
      <MenuItem icon={<LogOut aria-hidden size={16} />} onSelect={signOut}>
        Sign out
      </MenuItem>
    </Menu>
  );
}
