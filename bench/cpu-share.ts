/** Limits processes to a share of a CPU, by control groups of Linux. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type CpuShares = {
  /** Limits a process. Each process has a group of its own. */
  limit(pid: number): void;
  /** Removes the groups of processes that have ended. */
  close(): void;
};

const PERIOD_US = 20_000;
const ROOT = '/sys/fs/cgroup';
/** Of the first version of control groups, which has a directory for each controller. */
const FIRST_VERSION = join(ROOT, 'cpu');

/** Returns null if this user may not create control groups. */
export function openCpuShares(share: number): CpuShares | null {
  const isFirst = existsSync(FIRST_VERSION);
  const quota = Math.round(share * PERIOD_US);
  const groups: string[] = [];
  const create = (name: string): string => {
    const group = join(isFirst ? FIRST_VERSION : ROOT, `lynxroom-bench-${process.pid}-${name}`);
    mkdirSync(group);
    groups.push(group);
    if (isFirst) {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota));
    } else writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD_US}`);
    return group;
  };
  const close = (): void => {
    for (const group of groups.splice(0)) rmdirSync(group);
  };
  try {
    create('try');
    close();
  } catch {
    return null;
  }
  return { limit: (pid) => writeFileSync(join(create(String(pid)), 'cgroup.procs'), String(pid)), close };
}
