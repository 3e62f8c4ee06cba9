/**
 * The naive server: what the documentation of the libraries leads to. tRPC 11, zod 4 outputs, Prisma 7 with `include`.
 * It runs on the schema of seed-limit.sql.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PrismaPg } from '@prisma/adapter-pg';
import { initTRPC, TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';
import { PrismaClient } from './generated/client.ts';

export const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL ?? 16) }),
});
export const createContext = ({ req }: { req: IncomingMessage }) => ({ authorization: req.headers.authorization });
const t = initTRPC.meta<OpenApiMeta>().context<Awaited<ReturnType<typeof createContext>>>().create();

const signedIn = t.procedure.use(async ({ ctx, next }) => {
  const token = ctx.authorization?.startsWith('Bearer ') ? ctx.authorization.slice(7) : undefined;
  if (!token) throw new TRPCError({ code: 'UNAUTHORIZED' });
  const key = await prisma.apiKey.findUnique({ where: { keyHash: createHash('sha256').update(token).digest() } });
  if (!key?.isActive) throw new TRPCError({ code: 'UNAUTHORIZED' });
  return next({ ctx: { userId: key.createdBy, keyWorkspaceId: key.workspaceId } });
});
const inWorkspace = signedIn
  .input(z.object({ id: z.coerce.number().int().positive() }))
  .use(async ({ ctx, input, next }) => {
    const member = await prisma.member.findUnique({
      where: { workspaceId_userId: { workspaceId: input.id, userId: ctx.userId } },
    });
    if (!member || ctx.keyWorkspaceId !== input.id) throw new TRPCError({ code: 'FORBIDDEN' });
    return next({ ctx: { role: member.role } });
  });
const unix = (d: Date) => Math.floor(d.getTime() / 1000);
const unixOrNull = (d: Date | null) => (d ? unix(d) : null);

const LabelOut = z.object({
  id: z.number().int(),
  name: z.string(),
  color: z.string(),
  created_by_name: z.string(),
  created_at: z.number().int(),
});
const ItemOut = z.object({
  id: z.number().int(),
  name: z.string(),
  mime_type: z.string(),
  size: z.number().int(),
  created_at: z.number().int(),
  updated_at: z.number().int(),
  uploaded_by_name: z.string(),
  labels: z.array(z.object({ id: z.number().int(), name: z.string(), color: z.string() })),
});
const RoomOut = z.object({
  id: z.number().int(),
  name: z.string(),
  user_id: z.number().int(),
  created_at: z.number().int(),
  last_used_at: z.number().int(),
  scheduled_at: z.number().nullable(),
  accent_color: z.string(),
  waiting_room_enabled: z.number().int(),
  waiting_room_message: z.string().nullable(),
});
export const appRouter = t.router({
  labels: inWorkspace
    .meta({ openapi: { method: 'GET', path: '/api/workspaces/{id}/labels' } })
    .output(z.object({ labels: z.array(LabelOut) }))
    .query(async ({ input }) => {
      const labels = await prisma.label.findMany({
        where: { workspaceId: input.id },
        include: { creator: true },
        orderBy: { createdAt: 'asc' },
      });
      return {
        labels: labels.map((l) => ({
          id: l.id,
          name: l.name,
          color: l.color,
          created_by_name: l.creator?.name ?? '',
          created_at: unix(l.createdAt),
        })),
      };
    }),
  library: inWorkspace
    .meta({ openapi: { method: 'GET', path: '/api/workspaces/{id}/library' } })
    .input(
      z.object({
        search: z.string().optional(),
        label: z.coerce.number().int().optional(),
        sort: z.enum(['date', 'name', 'size']).default('date'),
        order: z.enum(['asc', 'desc']).default('desc'),
        limit: z.coerce.number().int().min(1).max(100).default(50),
        offset: z.coerce.number().int().min(0).default(0),
      }),
    )
    .output(z.object({ items: z.array(ItemOut), total: z.number().int() }))
    .query(async ({ input }) => {
      const where = {
        workspaceId: input.id,
        ...(input.search ? { name: { contains: input.search, mode: 'insensitive' as const } } : {}),
        ...(input.label ? { labels: { some: { labelId: input.label } } } : {}),
      };
      const orderBy = { date: { createdAt: input.order }, name: { name: input.order }, size: { size: input.order } }[
        input.sort
      ];
      const [items, total] = await Promise.all([
        prisma.libraryItem.findMany({
          where,
          include: { uploader: true, labels: { include: { label: true } } },
          orderBy,
          take: input.limit,
          skip: input.offset,
        }),
        prisma.libraryItem.count({ where }),
      ]);
      return {
        items: items.map((i) => ({
          id: i.id,
          name: i.name,
          mime_type: i.mimeType,
          size: i.size,
          created_at: unix(i.createdAt),
          updated_at: unix(i.updatedAt),
          uploaded_by_name: i.uploader?.name ?? '',
          labels: i.labels.map(({ label }) => ({ id: label.id, name: label.name, color: label.color })),
        })),
        total,
      };
    }),
  createRoom: signedIn
    .meta({ openapi: { method: 'POST', path: '/api/dashboard/rooms' } })
    .input(
      z.object({
        name: z.string().regex(/^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){1,63}$/),
        scheduled_at: z.number().nullish(),
        accent_color: z.string().optional(),
        waiting_room_enabled: z.number().int().min(0).max(1).optional(),
        waiting_room_message: z.string().nullish(),
      }),
    )
    .output(z.object({ room: RoomOut }))
    .mutation(async ({ ctx, input }) => {
      const r = await prisma.room.create({
        data: {
          workspaceId: ctx.keyWorkspaceId,
          userId: ctx.userId,
          name: input.name,
          scheduledAt: input.scheduled_at ? new Date(input.scheduled_at * 1000) : null,
          accentColor: input.accent_color,
          waitingRoomEnabled: input.waiting_room_enabled,
          waitingRoomMessage: input.waiting_room_message,
        },
      });
      return {
        room: {
          id: r.id,
          name: r.name,
          user_id: r.userId,
          created_at: unix(r.createdAt),
          last_used_at: unix(r.lastUsedAt),
          scheduled_at: unixOrNull(r.scheduledAt),
          accent_color: r.accentColor,
          waiting_room_enabled: r.waitingRoomEnabled,
          waiting_room_message: r.waitingRoomMessage,
        },
      };
    }),
});
export type AppRouter = typeof appRouter;
