// SPDX-License-Identifier: MIT
// Types of heapshot.mjs.

/** What `dotnet.create()` returned, as far as it is needed; `RuntimeAPI` of dotnet.d.ts is one. */
export interface Runtime {
  readonly Module: object;
}

export interface PrepareOptions {
  /**
   * Blazor's DotNetObjectReference and IJSObjectReference, too: true, also where its script comes
   * later; without a word, where it is there already.
   */
  blazor?: boolean;
}

export interface TableEntry {
  /** The runtime's or Blazor's number. */
  handle: number;
  /** What typeof says. */
  type: "object" | "function";
  /** Of the function, or of the object's class; may be empty. */
  name: string;
}

export interface Table {
  /** C# objects that JavaScript holds; JavaScript objects that C# holds; the same of Blazor. */
  name: "js_proxy" | "js_object" | "dotnet_object_reference" | "js_object_reference";
  /** Those that are held now. */
  entries: TableEntry[];
  /** Held now, and no handle is known. */
  escaped?: number;
  /** Let go of since prepare(). */
  released?: number;
  /** Dropped by JavaScript without a dispose(), since prepare(). */
  collected?: number;
  /** What people should know. */
  note?: string;
}

export interface Prepared {
  /** What cannot be seen, and why; empty when all can. */
  readonly notes: readonly string[];
  /** The tables as they are now; also for `Module.heapshot.tables`.  Needs no `this`. */
  readonly tables: () => Table[];
  /** Takes the hooks away. */
  remove(): void;
}

/**
 * Puts hooks in place that see what C# and JavaScript hold of each other: before the runtime is made.
 * Called again it returns those that are there, whatever the options, until their remove().
 */
export function prepare(options?: PrepareOptions): Prepared;

export interface AttachOptions {
  /** As for --profile=heapshot; not for a runtime that records already. */
  options?: string;
  /** Puts the functions of `Exposed` on the runtime's own object, too. */
  expose?: boolean;
  /** By which a person tells this program from others. */
  title?: string;
}

/** Records a runtime; without one, `getDotnetRuntime(0)`. */
export function attach(runtime?: Runtime | Promise<Runtime>, options?: AttachOptions): Promise<Heapshot>;

export interface Progress {
  bytes: number;
  frames: number;
}

export interface SnapshotOptions {
  label?: string;
  /** Looked at before the snapshot, and after each onProgress(). */
  signal?: AbortSignal;
  /** Called in the middle of the snapshot: it must not call the runtime; what it throws ends the snapshot. */
  onProgress?: (progress: Progress) => void;
  /** false: recording() will not have it. */
  keep?: boolean;
}

export interface Snapshot {
  /** Number in the recording, from 1. */
  id: number;
  label: string;
  /** The option that led to it: "api", "at", "oom", ... */
  trigger: string;
  isComplete: boolean;
  objects: number;
  bytes: number;
}

export interface TypeStats {
  type: string;
  count: number;
  bytes: number;
}

/** In bytes; live, free and native make the total. */
export interface MemoryStats {
  live: number;
  free: number;
  native: number;
  total: number;
  /** Linear memory, which grows in leaps, and that it may grow to. */
  linear: number;
  maximum: number;
}

export interface ChannelOptions {
  /** Of the BroadcastChannel. */
  name?: string;
  /** A panel without it gets no answer. */
  token?: string;
  title?: string;
}

export interface EventDetails {
  /** A snapshot has ended, whoever asked for it. */
  snapshot: Snapshot;
  /** In the middle of a snapshot: a listener must not call the runtime. */
  progress: Progress;
  /** A listener of frames threw this. */
  error: unknown;
  /** The recording has ended. */
  end: null;
}

/** Functions that attach() puts on the runtime where `expose` says so. */
export interface Exposed {
  takeSnapshot(options?: SnapshotOptions): Promise<Blob>;
  /** Takes a snapshot and gives it to the person: a download of a page, a file of node.  Resolves to its name. */
  downloadMemoryDump(name?: string, options?: SnapshotOptions): Promise<string>;
  /** Types by bytes as a table on the console, and a line of what memory is used for. */
  logMemoryStats(limit?: number): Promise<TypeStats[]>;
  /** Answers to panels in other tabs from now on; rejects where there can be no channel, or is one already. */
  enableDiagnosticChannel(options?: ChannelOptions): Promise<{ close(): void }>;
}

export interface Heapshot extends EventTarget, Exposed {
  readonly runtime: Runtime;
  title: string;
  /** Of .NET. */
  readonly runtimeVersion: string;
  /** Of the module inside the runtime. */
  readonly heapshotVersion: string;
  readonly isRecording: boolean;
  readonly isDetached: boolean;
  /** Those that ended so far. */
  readonly snapshots: Snapshot[];
  /** One of them as a recording by itself. */
  snapshot(id: number): Blob;
  /** All that was recorded so far; open: without an end. */
  recording(options?: { isOpen?: boolean }): Blob;
  memoryStats(): Promise<{ types: TypeStats[]; memory: MemoryStats }>;
  /** Puts a label among the events. */
  mark(label: string): void;
  /** Drops the snapshots and events so far, to give back their memory. */
  forget(): void;
  /** Each frame as it comes, mostly in the middle of a collection; returns what ends it. */
  onFrame(listener: (frame: Uint8Array) => void): () => void;
  on<Name extends keyof EventDetails>(name: Name, listener: (detail: EventDetails[Name]) => void): () => void;
  /** Ends the recording, and all that attach() did. */
  detach(): void;
}
