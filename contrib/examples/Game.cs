// SPDX-License-Identifier: MIT
// The program that embed.c runs: each level keeps its monsters for ever.
using System.Collections.Generic;

public class Monster
{
	public Monster Next;
}

public static class Game
{
	static readonly List<Monster> monsters = new List<Monster>();

	public static int Play(int count)
	{
		for (int i = 0; i < count; i++)
			monsters.Add(new Monster());
		return monsters.Count;
	}

	public static void Main()
	{
	}
}
