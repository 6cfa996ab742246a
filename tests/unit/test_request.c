/* SPDX-License-Identifier: MIT */
/*
 * Slots of requests: who is queued, who is served first, what becomes of those
 * that nobody waits for any more.
 */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include "profiler/request.h"

/* Takes what waits and ends it; the trigger, or -1 when nothing waits. */
static int serve(uint32_t snapshot, int error)
{
	struct hs_request *request = hs_request_take();

	if (!request)
		return -1;
	hs_request_done(request, snapshot, error);
	return (int)request->trigger;
}

Test(request, asked_often_is_taken_once)
{
	cr_expect(!hs_request_is_pending());
	for (int i = 0; i < 3; i++)
		hs_request_post(HS_TRIGGER_GC);
	cr_expect(hs_request_is_pending());
	cr_expect_eq(serve(1, 0), HS_TRIGGER_GC);
	cr_expect(!hs_request_is_pending());
	cr_expect_eq(serve(2, 0), -1);
}

Test(request, asked_while_it_is_taken_is_queued_once)
{
	struct hs_request *request;

	hs_request_post(HS_TRIGGER_SIGNAL);
	request = hs_request_take();
	cr_assert_not_null(request);
	for (int i = 0; i < 3; i++)
		hs_request_post(HS_TRIGGER_SIGNAL);
	cr_expect_null(hs_request_take(), "one at a time");
	hs_request_done(request, 1, 0);
	cr_expect_eq(serve(2, 0), HS_TRIGGER_SIGNAL);
	cr_expect_eq(serve(3, 0), -1);
}

Test(request, what_failed_is_not_tried_again)
{
	struct hs_request *request;

	hs_request_post(HS_TRIGGER_AT);
	request = hs_request_take();
	hs_request_post(HS_TRIGGER_AT);
	hs_request_done(request, 1, -EAGAIN);
	cr_expect_eq(serve(2, 0), -1);
	/* Nor is it remembered: the next is one again. */
	hs_request_post(HS_TRIGGER_AT);
	cr_expect_eq(serve(3, 0), HS_TRIGGER_AT);
	cr_expect_eq(serve(4, 0), -1);
}

Test(request, a_question_that_came_too_late_leads_to_no_surplus)
{
	struct hs_request *request;

	hs_request_post(HS_TRIGGER_GC);
	request = hs_request_take();
	hs_request_done(request, 1, 0);
	/* As one that saw it taken, and was interrupted before it said so. */
	atomic_store(&request->is_asked_again, 1);
	hs_request_post(HS_TRIGGER_GC);
	cr_expect_eq(serve(2, 0), HS_TRIGGER_GC);
	cr_expect_eq(serve(3, 0), -1);
}

Test(request, the_oldest_comes_first)
{
	struct hs_request *api, *control;

	api = hs_request_open(HS_TRIGGER_API, "api", false);
	hs_request_post(HS_TRIGGER_EVERY_TIME);
	control = hs_request_open(HS_TRIGGER_CONTROL, "control", true);
	cr_assert(api && control);
	/* The clock may stand still between two of them. */
	atomic_store(&api->asked_ns, 20);
	atomic_store(&control->asked_ns, 10);
	cr_expect_eq(serve(1, 0), HS_TRIGGER_CONTROL);
	cr_expect_eq(serve(2, 0), HS_TRIGGER_API);
	cr_expect_eq(serve(3, 0), HS_TRIGGER_EVERY_TIME);
	cr_expect(hs_request_is_done(api) && hs_request_is_done(control));
	cr_expect_str_eq(control->label, "control");
	cr_expect(control->is_stats_only);
	cr_expect_eq(hs_request_close(control), 1);
	cr_expect_eq(hs_request_close(api), 2);
}

Test(request, who_waits_gets_the_error)
{
	struct hs_request *request = hs_request_open(HS_TRIGGER_API, "x", false);

	hs_request_post(HS_TRIGGER_GC);
	hs_request_refuse_all(-ESHUTDOWN);
	cr_expect(!hs_request_is_pending());
	cr_expect(hs_request_is_done(request));
	cr_expect_eq(hs_request_close(request), -ESHUTDOWN);
	/* Both slots are free again. */
	hs_request_post(HS_TRIGGER_GC);
	cr_expect_eq(serve(1, 0), HS_TRIGGER_GC);
}

Test(request, who_gives_up_leaves_no_request)
{
	struct hs_request *request = hs_request_open(HS_TRIGGER_API, "", false);

	cr_expect_eq(hs_request_close(request), -ETIMEDOUT);
	cr_expect_eq(serve(1, 0), -1);
}

Test(request, who_gives_up_while_it_is_taken_leaves_the_slot_to_the_taker)
{
	struct hs_request *request = hs_request_open(HS_TRIGGER_API, "", false), *other, *next;

	cr_assert_eq(hs_request_take(), request);
	cr_expect_eq(hs_request_close(request), -ETIMEDOUT);
	other = hs_request_open(HS_TRIGGER_API, "", false);
	cr_expect_neq(other, request, "it is still being taken");
	hs_request_done(request, 1, 0);
	next = hs_request_open(HS_TRIGGER_API, "", false);
	cr_expect_eq(next, request, "and free then");
	cr_expect(!hs_request_is_done(next));
}

Test(request, a_child_goes_on_without_who_asked)
{
	struct hs_request *request = hs_request_open(HS_TRIGGER_API, "", false);

	cr_assert_eq(hs_request_take(), request);
	hs_request_forked(request, 7);
	cr_expect(hs_request_is_forked(request) && !hs_request_is_done(request));
	cr_expect_eq(hs_request_close(request), 7);
	hs_request_done(request, 7, 0);
	request = hs_request_open(HS_TRIGGER_API, "", false);
	cr_expect(!hs_request_is_forked(request));
}

Test(request, eight_wait_and_no_more)
{
	struct hs_request *requests[8];

	for (int i = 0; i < 8; i++)
		cr_assert_not_null(requests[i] = hs_request_open(HS_TRIGGER_CONTROL, "", false));
	cr_expect_null(hs_request_open(HS_TRIGGER_API, "", false));
	cr_expect_eq(hs_request_close(requests[3]), -ETIMEDOUT);
	cr_expect_not_null(hs_request_open(HS_TRIGGER_API, "", false));
	/* Those that nobody waits for have slots of their own. */
	hs_request_post(HS_TRIGGER_TERM);
	cr_expect(hs_request_post_early("early", false));
	cr_expect(!hs_request_post_early("too early", false));
}
